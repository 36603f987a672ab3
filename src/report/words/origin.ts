import type { Origin, Plan } from '../../model/index.ts'

const POLICY_CODES = new Set(['W_POLICY_REMOVED', 'W_WINDOW_CHANGED'])

/** Whether the manifests introduce no changes. False if the comparison is incomplete. */
export const isUnchanged = (plan: Plan, { introduced, settled, released, gaps }: Origin): boolean =>
  introduced.length === 0 &&
  settled.length === 0 &&
  released.length === 0 &&
  gaps === undefined &&
  plan.leftOut === undefined &&
  !plan.warnings.some(({ code }) => POLICY_CODES.has(code))
