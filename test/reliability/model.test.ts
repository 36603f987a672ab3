import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isLong } from '../long-runs.ts'
import { liveWorld } from '../planner/arbitraries.ts'
import { type DeclaredDocument, world } from '../planner/world.ts'
import { openStage, type Stage } from './stage.ts'
import { type Application, Trial } from './trial.ts'
import { application, manifest } from './worst-cases.ts'

/** What a person can do; every one of them may be done at any time. */
type Command = fc.AsyncCommand<object, Trial>

const complain = ({ wrong }: Trial): void => {
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}

const applying = (one: Application): Command => ({
  check: () => true,
  run: async (_model, trial) => {
    await trial.apply(one)
    complain(trial)
  },
  toString: () => `apply ${JSON.stringify(one)}`,
})

const declaring = (one: DeclaredDocument): Command => ({
  check: () => true,
  run: async (_model, trial) => {
    trial.declare(one)
  },
  toString: () => `declare ${JSON.stringify(one)}`,
})

const passing = (ms: number): Command => ({
  check: () => true,
  run: (_model, trial) => trial.pass(ms),
  toString: () => `${ms} ms pass`,
})

const { ESPALIER_MODEL_RUNS, ESPALIER_MODEL_SEED, ESPALIER_MODEL_PATH, ESPALIER_MODEL_REPLAY } = process.env
/** About 100 ms each. */
const RUNS = Number(ESPALIER_MODEL_RUNS ?? (isLong ? 2_000 : 25))

const commands = fc.commands(
  [application.map(applying), manifest.map(declaring), fc.integer({ min: 1, max: 60_000 }).map(passing)],
  { maxCommands: 3, ...(ESPALIER_MODEL_REPLAY === undefined ? {} : { replayPath: ESPALIER_MODEL_REPLAY }) },
)

const howToReplay = (details: Pick<fc.RunDetails<unknown[]>, 'seed' | 'counterexamplePath' | 'counterexample'>) => {
  const replay = /replayPath="([^"]*)"/.exec(String(details.counterexample?.at(-1)))?.[1] ?? ''
  const values = { SEED: details.seed, PATH: details.counterexamplePath, REPLAY: replay }
  const words = Object.entries(values).map(([name, value]) => `ESPALIER_MODEL_${name}=${value}`)
  return `To run this case again:\n${words.join(' ')} npx vitest run --project unit test/reliability/model`
}

let stage: Stage
let current: Trial | undefined
/** Ids come of it, so that a seed gives the same run again. */
let drawn = 0

beforeAll(async () => {
  stage = await openStage({
    random: () => {
      drawn = (drawn * 16_807 + 11) % 2_147_483_647
      return drawn / 2_147_483_647
    },
    onHandled: (method, path) => current?.watch(method, path),
  })
})
afterAll(() => stage.sandbox.close())

test('whatever fails, nothing is created twice, deleted without consent or given two primaries, and a second apply converges', async () => {
  let [done, tried] = [0, 0]
  const property = fc.asyncProperty(manifest, liveWorld, application, commands, async (first, live, one, later) => {
    drawn = 1
    const trial = new Trial(stage, world(live), first)
    current = trial
    await trial.apply(one)
    complain(trial)
    await fc.asyncModelRun(() => ({ model: {}, real: trial }), later)
    await trial.recover()
    current = undefined
    done += trial.done
    tried += 1
    complain(trial)
  })
  const details = await fc.check(property, {
    numRuns: RUNS,
    endOnFailure: ESPALIER_MODEL_PATH !== undefined,
    ...(ESPALIER_MODEL_SEED === undefined ? {} : { seed: Number(ESPALIER_MODEL_SEED) }),
    ...(ESPALIER_MODEL_PATH === undefined ? {} : { path: ESPALIER_MODEL_PATH }),
  })
  if (details.failed)
    throw new Error(`${howToReplay(details)}\n\n${fc.defaultReportMessage(details)}\n\n${details.errorInstance}`)
  process.stdout.write(`${tried} runs, ${done} steps done, ${stage.sandbox.requests} requests\n`)
  // Most random pairs have a plan; were it not so, the runs would prove nothing.
  if (ESPALIER_MODEL_PATH === undefined) expect(done).toBeGreaterThan(tried)
}, 3_600_000)
