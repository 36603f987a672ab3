/** Impacts, and why a step was not done. */
import type { FailureReason, Impact } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'

export const OF_IMPACT: Readonly<Record<Impact, Omit<Explanation, 'rule'>>> = {
  none: { example: 'scale to zero, a name, anything on an idle compute' },
  'may-restart': {
    example: 'postgres.settings, some of which take effect only after a restart',
    wayOut: 'Treat it as a restart.',
  },
  restart: {
    example: 'size, autoscaling limits, preloaded libraries',
    wayOut: 'Applications must reconnect. A plain yes is enough consent.',
  },
  disconnect: { example: 'disabled: true', wayOut: 'Needs --allow disconnect.' },
  move: {
    example: 'a pin that moves a compute to another branch: same host, other data',
    wayOut: 'Needs --allow move.',
  },
  replace: {
    example: 'a pinned replica that is declared as a primary',
    wayOut: 'Needs --allow replace; applications need the new host.',
  },
  delete: { example: 'primary: absent, prune: true', wayOut: 'Needs --allow delete; the hostname cannot be restored.' },
}

export const OF_FAILURE: Readonly<Record<FailureReason, Explanation>> = {
  'apply-failed': {
    rule: 'The control API must accept the request.',
    example: '422: a limit of the account',
    wayOut: 'The message comes from the API. Fix the cause and apply again.',
  },
  'operation-failed': {
    rule: 'All operations of a step must succeed.',
    example: 'apply_config ended as failed, cancelled or skipped',
    wayOut: 'Check espalier operations list, then apply again.',
  },
  'operation-timeout': {
    rule: 'The operations of a step must finish within --operation-timeout.',
    example: '--operation-timeout 10m',
    wayOut: 'They continue on the service: wait with espalier operations wait, then apply again.',
  },
  'not-effective': {
    rule: 'The compute must have the requested values when it is read back.',
    example: "a size beyond the account's plan, which the service accepts but ignores",
    wayOut: "Check what the account's plan allows.",
  },
  'project-busy': {
    rule: 'A project runs the operations of one call at a time (423).',
    example: "somebody else's operation that takes too long",
    wayOut:
      'Check espalier operations list --status running, then apply again, with a longer --lock-timeout if needed.',
  },
  'rate-limited': {
    rule: 'The API limits requests per minute (429).',
    example: 'several programs with one account',
    wayOut: 'Apply again later, or with a lower --concurrency.',
  },
  auth: {
    rule: 'The API key must have permission for the request (401, 403).',
    example: 'a revoked or read-only key',
    wayOut: 'Use another key and apply again.',
  },
  'changed-meanwhile': {
    rule: 'A step is sent only if everything it changes or relies on still matches the plan.',
    example: 'somebody resized the compute while the step waited for a lock',
    wayOut: 'Run espalier plan to review the project as it is now, then apply again.',
  },
  'depends-on-failed': {
    rule: 'A step runs only after the steps it depends on.',
    example: 'a primary whose branch still has another primary',
    wayOut: 'Fix the earlier step, then apply again.',
  },
  'too-many-failures': {
    rule: 'Once more steps have failed than --max-failures allows, no other step starts.',
    example: '--max-failures 0, and the first step fails',
    wayOut: 'Fix the cause of the failures, then apply again.',
  },
  'not-consented': {
    rule: 'A plain yes allows only harmless changes and restarts.',
    mistake: 'espalier apply --auto-approve',
    correction: 'espalier apply --auto-approve --allow delete',
    wayOut: 'Allow the other changes with --allow.',
  },
  protected: {
    rule: 'Computes on a protected branch cannot be deleted, moved or replaced.',
    example: 'protect: true',
    wayOut: 'Remove the protection first, in a separate change.',
  },
  'outside-window': {
    rule: 'Disruptive steps wait for their restart window.',
    mistake: 'espalier apply --auto-approve',
    correction: 'espalier apply --auto-approve --now',
    wayOut: 'Apply again in the window, or with --now.',
  },
  interrupted: {
    rule: 'An interrupted run starts no new step.',
    example: 'Ctrl-C, SIGTERM, or a journal on a full disk',
    wayOut: 'Apply again: it plans again and continues.',
  },
}
