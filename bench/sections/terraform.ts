/** Compares `espalier plan` with `terraform plan` for as many resources, without providers or network access. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { node, run, type Took, timeIsMissing } from '../run-process.ts'
import { startServer } from '../start-server.ts'
import { figureOf, ratioOf } from '../statistics.ts'
import type { Cell, Section } from '../table.ts'
import { manifestOf, type World } from '../worlds.ts'

const ABOUT =
  'Terraform plans one built-in `terraform_data` resource for each compute, and one in ten of them has changed. Each resource has its own block, because `for_each` takes quadratic time. The state is in a local file. Terraform needs no external provider and sends no requests. Espalier plans against a sandbox without latency.'

export const terraformSection = async (bench: Bench): Promise<Section> => {
  const name = 'Compared with terraform plan'
  const env = { CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1' }
  try {
    await run('terraform', ['version'], { env })
  } catch {
    return { name, about: ABOUT, rows: [], skipped: ['terraform is not on the PATH.'] }
  }
  const rows: Record<string, Cell>[] = []
  for (const computes of bench.quick ? [100] : [1, 100, 1_000]) {
    const world: World = { kind: 'fleet', computes, projects: 1 }
    const cwd = await mkdtemp(join(bench.folder, 'terraform-'))
    const manifest = join(cwd, 'espalier.yaml')
    await writeFile(manifest, manifestOf(world))
    await writeFile(join(cwd, 'main.tf'), resources(computes))
    await writeFile(join(cwd, 'terraform.tfstate'), state(computes))
    await run('terraform', ['init', '-input=false'], { cwd, env })
    const server = await startServer({ world })
    const ours: Took[] = []
    const theirs: Took[] = []
    for (let turn = 0; turn < bench.runs; turn += 1) {
      ours.push(await node([join(bench.built, 'plan.js'), manifest, server.url, server.key]))
      theirs.push(await run('terraform', ['plan', '-input=false', '-detailed-exitcode'], { cwd, env, exits: [2] }))
    }
    await server.stop()
    const wall = (took: readonly Took[]) => took.map(({ ms }) => ms)
    const cpu = (took: readonly Took[]) => took.map(({ cpuMs = 0 }) => cpuMs)
    rows.push({
      computes,
      'espalier: wall, ms': figureOf(wall(ours)),
      'terraform: wall, ms': figureOf(wall(theirs)),
      'wall, espalier/terraform': ratioOf(wall(ours), wall(theirs)),
      ...(timeIsMissing ? {} : { 'CPU, espalier/terraform': ratioOf(cpu(ours), cpu(theirs)) }),
    })
  }
  return { name, about: ABOUT, rows }
}

const indices = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

const resources = (count: number): string =>
  indices(count)
    .map((index) => {
      const size = index % 10 === 0 ? 2 : 1
      return `resource "terraform_data" "c${index}" {\n  input = { branch = "branch-${index}", size = ${size} }\n}\n`
    })
    .join('')

/** The Terraform state after an apply that gave every resource size 1. */
const state = (count: number): string =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.0.0',
    serial: 1,
    lineage: '00000000-0000-4000-8000-000000000000',
    outputs: {},
    resources: indices(count).map((index) => {
      const value = {
        value: { branch: `branch-${index}`, size: 1 },
        type: ['object', { branch: 'string', size: 'number' }],
      }
      return {
        mode: 'managed',
        type: 'terraform_data',
        name: `c${index}`,
        provider: 'provider["terraform.io/builtin/terraform"]',
        instances: [
          { schema_version: 0, attributes: { id: `id-${index}`, input: value, output: value, triggers_replace: null } },
        ],
      }
    }),
    check_results: null,
  })
