/** Measures start-up times. */
import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { node, run } from '../run-process.ts'
import { figureOf, ratioOf } from '../statistics.ts'
import type { Section } from '../table.ts'

const NODE = 'node -e 0'
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  [NODE]: ['-e', '0'],
  'espalier --version': ['dist/main.js', '--version'],
  'espalier --help': ['dist/main.js', '--help'],
  'espalier validate, one manifest': ['dist/main.js', 'validate', 'examples/quickstart/espalier.yaml'],
}

type Times = Readonly<Record<string, readonly number[]>>

export const startUpSection = async (bench: Bench): Promise<Section> => {
  const rounds = bench.quick ? 10 : 30
  const byHyperfine = await hyperfine(bench.folder, rounds)
  const times = byHyperfine ?? (await inTurn(rounds))
  const base = times[NODE] ?? []
  return {
    name: 'Start-up',
    about:
      byHyperfine === undefined
        ? `${rounds} rounds. In each round, every command runs once, so that load from other processes affects all commands equally. hyperfine was not installed.`
        : `Measured with hyperfine, ${rounds} runs of each command.`,
    rows: Object.keys(COMMANDS).map((command) => ({
      command,
      'wall, ms': figureOf(times[command] ?? []),
      [`relative to ${NODE}`]: ratioOf(times[command] ?? [], base),
    })),
  }
}

const inTurn = async (rounds: number): Promise<Times> => {
  const times = Object.fromEntries(Object.keys(COMMANDS).map((name): [string, number[]] => [name, []]))
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, args] of Object.entries(COMMANDS)) {
      const { ms } = await node(args)
      // The first round only fills the disk cache.
      if (round >= 0) times[name]?.push(ms)
    }
  }
  return times
}

const hyperfine = async (folder: string, rounds: number): Promise<Times | undefined> => {
  const file = join(await mkdtemp(join(folder, 'hyperfine-')), 'times.json')
  const lines = Object.values(COMMANDS).map((args) => [process.execPath, ...args].map((word) => `'${word}'`).join(' '))
  let written: string
  try {
    // If the program is not installed, GNU time exits with 127.
    const how = { exits: [0, 127] }
    await run('hyperfine', ['--shell=none', '--warmup=2', `--runs=${rounds}`, `--export-json=${file}`, ...lines], how)
    written = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const { results } = JSON.parse(written) as { results: readonly { times: readonly number[] }[] }
  return Object.fromEntries(
    Object.keys(COMMANDS).map((name, index) => [name, (results[index]?.times ?? []).map((seconds) => seconds * 1_000)]),
  )
}
