/** The plan carried out by the real engine, on a sandbox that shows what the live project showed, and misbehaves. */
import { createWriteApi } from '../api/index.ts'
import { applyPlan } from '../apply/index.ts'
import { type Clock, CONSENTS, isAllDone, type Observed, type Outcome, type Plan } from '../model/index.ts'
import { startSandbox, worldOf } from '../sandbox/index.ts'
import { look, type Manifests } from '../workflow/index.ts'
import type { Io } from './io.ts'

/** How many times faster than on the live project. */
const SPEED = 50
const SLOW_MS = 20_000
const OPERATION_TIMEOUT_MS = 600_000
const CONCURRENCY = 8

export interface Rehearsal {
  readonly outcome: Outcome
  /** Every step was done, and the plan made afterwards was empty. */
  readonly isGood: boolean
}

/** A lock, a slow operation and one that fails once are thrown in. Nothing live is touched. */
export const rehearse = async (
  plan: Plan,
  observed: Observed,
  manifests: Manifests,
  { clock: real }: Io,
): Promise<Rehearsal> => {
  const sandbox = await startSandbox({ timeScale: SPEED, background: false })
  const clock = fastClock(real)
  const api = createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, clock, rateLimit: false })
  try {
    sandbox.control.load(worldOf(observed, sandbox.clock.now()))
    const [first] = plan.steps
    if (first !== undefined) {
      sandbox.control.addFault({ on: 'request', method: first.request.method, effect: { kind: 'lock' } })
    }
    sandbox.control.addFault({ on: 'operation', effect: { kind: 'slow', ms: SLOW_MS } })
    sandbox.control.addFault({ on: 'operation', effect: { kind: 'fail', message: 'a rehearsed failure' }, after: 1 })
    const outcome = await applyPlan({
      plan,
      observed,
      api,
      consent: { allow: new Set(CONSENTS) },
      ignoreWindows: true,
      clock,
      concurrency: CONCURRENCY,
      operationTimeoutMs: OPERATION_TIMEOUT_MS,
      onEvent: async () => undefined,
      replan: async (pinAliases, read) =>
        (await look(api, manifests, { concurrency: CONCURRENCY, estimate: false, pinAliases, read })).result,
    })
    return { outcome, isGood: isAllDone(outcome) && outcome.converged === true }
  } finally {
    await api.close()
    await sandbox.close()
  }
}

const fastClock = (real: Clock): Clock => {
  const start = real.now()
  return {
    now: () => start + (real.now() - start) * SPEED,
    sleep: (ms, signal) => real.sleep(ms / SPEED, signal),
  }
}
