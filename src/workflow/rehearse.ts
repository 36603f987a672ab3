/** Rehearses a plan: applies it to a copy of the projects in a sandbox, with injected faults. */
import { createWriteApi } from '../api/index.ts'
import { applyPlan } from '../apply/index.ts'
import type { Clock } from '../base/index.ts'
import { CONSENTS, isAllDone, leftOutIds, type Outcome } from '../model/index.ts'
import { startSandbox, worldOf } from '../sandbox/index.ts'
import { replanner } from './apply.ts'
import { withoutProjects } from './manifests.ts'
import type { Planned } from './plan.ts'

/** How many times faster than real time the sandbox's clock runs. */
const SPEED = 50
const SLOW_MS = 20_000

export interface Rehearsal {
  readonly outcome: Outcome
  /** Whether every step was done and the next plan was empty. */
  readonly isGood: boolean
}

/** Rehearses the plan with three faults: a lock, a slow operation, and an operation that fails once. */
export const rehearse = async ({ result, observed, manifests }: Planned, real: Clock): Promise<Rehearsal> => {
  const { plan } = result
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
      // Consents and windows are there to protect live projects, so the rehearsal does not need them.
      consent: { allow: new Set(CONSENTS) },
      ignoreWindows: true,
      clock,
      replan: replanner(api, withoutProjects(manifests, leftOutIds(plan))),
    })
    return { outcome, isGood: isAllDone(outcome) && outcome.converged === true }
  } finally {
    await api.close()
    await sandbox.close()
  }
}

/**
 * A clock on which only waiting takes time. If computing took time too, a busy machine would exceed the client's
 * timeouts, which pass {@link SPEED} times as fast as real ones.
 */
const fastClock = (real: Clock): Clock => {
  let time = real.now()
  return {
    now: () => time,
    sleep: async (ms, signal) => {
      const until = time + ms
      await real.sleep(ms / SPEED, signal)
      time = Math.max(time, until)
    },
  }
}
