import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { expectEnough, isLong } from '../long-runs.ts'
import { liveWorld } from '../planner/arbitraries.ts'
import { type DeclaredDocument, world } from '../planner/world.ts'
import { openStage, type Stage } from './stage.ts'
import { type Application, Trial } from './trial.ts'
import { application, manifest } from './worst-cases.ts'

/** A user's action. All actions are possible at any time. */
type Command = fc.AsyncCommand<object, Trial>

const throwIfWrong = ({ wrong }: Trial): void => {
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}

const applying = (one: Application): Command => ({
  check: () => true,
  run: async (_model, trial) => {
    await trial.apply(one)
    throwIfWrong(trial)
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
/** A run takes about 100 ms. */
const RUNS = Number(ESPALIER_MODEL_RUNS ?? (isLong ? 2_000 : 4))

const commands = fc.commands(
  [application.map(applying), manifest.map(declaring), fc.integer({ min: 1, max: 60_000 }).map(passing)],
  { maxCommands: 3, ...(ESPALIER_MODEL_REPLAY === undefined ? {} : { replayPath: ESPALIER_MODEL_REPLAY }) },
)

const howToReplay = (details: Pick<fc.RunDetails<unknown[]>, 'seed' | 'counterexamplePath' | 'counterexample'>) => {
  const replay = /replayPath="([^"]*)"/.exec(String(details.counterexample?.at(-1)))?.[1] ?? ''
  const values = { SEED: details.seed, PATH: details.counterexamplePath, REPLAY: replay }
  const words = Object.entries(values).map(([name, value]) => `ESPALIER_MODEL_${name}=${value}`)
  return `To reproduce this case:\n${words.join(' ')} npx vitest run --project unit test/reliability/model`
}

let stage: Stage
let current: Trial | undefined
/** The state of the generator for ids, so that a seed reproduces a run. */
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

// promise: random-faults, created-once, deleted-with-consent, one-primary, done-when-seen, converges, others-kept
test('under random faults, nothing is created twice or deleted without consent, no branch gets two primaries, and a second apply converges', async () => {
  let [done, tried] = [0, 0]
  const property = fc.asyncProperty(manifest, liveWorld, application, commands, async (first, live, one, later) => {
    drawn = 1
    const trial = new Trial(stage, world(live), first)
    current = trial
    await trial.apply(one)
    throwIfWrong(trial)
    await fc.asyncModelRun(() => ({ model: {}, real: trial }), later)
    await trial.recover()
    current = undefined
    done += trial.done
    tried += 1
    throwIfWrong(trial)
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
  // If most random inputs had no plan, the runs would prove nothing.
  if (ESPALIER_MODEL_PATH === undefined) expectEnough(done, tried)
}, 3_600_000)
