/**
 * `npm run bench` measures start-up, plan and apply, and compares them with a floor and with other tools. It prints
 * tables, and updates bench/results.json and bench/README.md. With `--quick`, it does fewer runs, skips slow
 * measurements and writes no files. Other arguments are the names of the sections to run.
 */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../scripts/bundle.mjs'
import type { Bench } from './bench.ts'
import { applySection } from './sections/apply.ts'
import { changesSection } from './sections/changes.ts'
import { growthSection } from './sections/growth.ts'
import { neonSection } from './sections/neon.ts'
import { operationsSection } from './sections/operations.ts'
import { planSection } from './sections/plan.ts'
import { startUpSection } from './sections/start-up.ts'
import { terraformSection } from './sections/terraform.ts'
import { type Section, sectionText } from './table.ts'
import { writeDocs } from './write-docs.ts'

const SECTIONS: Readonly<Record<string, (bench: Bench) => Promise<Section>>> = {
  'start-up': startUpSection,
  plan: planSection,
  neon: neonSection,
  terraform: terraformSection,
  growth: growthSection,
  apply: applySection,
  changes: changesSection,
  operations: operationsSection,
}

const RESULTS = 'bench/results.json'

/** The sections of the previous run. A section is kept unless it is run again. */
const earlier = async (): Promise<readonly Section[]> =>
  (JSON.parse(await readFile(RESULTS, 'utf8')) as { readonly sections: readonly Section[] }).sections

const words = process.argv.slice(2)
const quick = words.includes('--quick')
const wanted = words.filter((word) => !word.startsWith('--'))
const unknown = words.find((word) => word !== '--quick' && !Object.hasOwn(SECTIONS, word))
if (unknown !== undefined) {
  console.error(`Unknown argument ${unknown}. Use --quick or sections: ${Object.keys(SECTIONS).join(', ')}.`)
  process.exit(1)
}

execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
const folder = await mkdtemp(join(tmpdir(), 'espalier-bench-'))
const bench: Bench = { runs: quick ? 1 : 3, quick, folder, built: join(folder, 'built') }
const about = { node: process.version, platform: process.platform, cores: availableParallelism(), runs: bench.runs }
const aboutText = `Node ${about.node}, ${about.platform}, ${about.cores} cores. Except at start-up, each figure is the median (min–max) of ${about.runs} runs.`
console.log(aboutText)
const sections: Section[] = []
try {
  await bundle({ plan: 'bench/processes/plan.ts', phase: 'bench/processes/phase.ts' }, bench.built)
  // The floor is a minimal program.
  await bundle({ floor: 'bench/processes/floor.ts' }, bench.built, { wholeUndici: true })
  // With this file, Node treats the bundles as modules.
  await writeFile(join(bench.built, 'package.json'), '{ "type": "module" }')
  for (const [name, measure] of Object.entries(SECTIONS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const section = await measure(bench)
    sections.push(section)
    console.log(sectionText(section))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
if (!quick) {
  const kept = wanted.length === 0 ? [] : await earlier()
  const taken = new Map([...kept, ...sections].map((section) => [section.name, section]))
  await writeFile(RESULTS, `${JSON.stringify({ ...about, sections: [...taken.values()] }, null, 2)}\n`)
  await writeDocs(aboutText, [...taken.values()])
  console.log(`\nWritten to ${RESULTS} and bench/README.md.`)
}
