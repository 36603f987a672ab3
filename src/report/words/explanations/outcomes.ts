/** Impacts, and why a step was not done. */
import type { FailureReason, Impact } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'

export const OF_IMPACT: Readonly<Record<Impact, Omit<Explanation, 'rule'>>> = {
  none: { example: 'scale to zero, a name, anything on an idle compute' },
  'may-restart': { example: 'postgres.settings: some take effect at a restart only', wayOut: 'Treat it as a restart.' },
  restart: {
    example: 'size, autoscaling limits, preloaded libraries',
    wayOut: 'Applications must reconnect; covered by a plain yes.',
  },
  disconnect: { example: 'disabled: true', wayOut: 'Needs --allow disconnect.' },
  move: {
    example: 'a pin that moves a compute to another branch: same host, other data',
    wayOut: 'Needs --allow move.',
  },
  replace: {
    example: 'a pin declared with the other type',
    wayOut: 'Needs --allow replace; applications need the new host.',
  },
  delete: { example: 'primary: absent, prune: true', wayOut: 'Needs --allow delete; the host never comes back.' },
}

export const OF_FAILURE: Readonly<Record<FailureReason, Explanation>> = {
  'apply-failed': {
    rule: 'The control API takes the call.',
    example: '422: a limit of the account',
    wayOut: 'The message is the API’s own: remove the cause and apply again.',
  },
  'operation-failed': {
    rule: 'The operations of a step finish.',
    example: 'apply_config ended as failed, cancelled or skipped',
    wayOut: 'Look with espalier operations list, and apply again.',
  },
  'operation-timeout': {
    rule: 'The operations of a step finish in time.',
    example: '--operation-timeout 10m',
    wayOut: 'They go on by themselves: wait with espalier operations wait, then apply again.',
  },
  'not-effective': {
    rule: 'What was asked for shows when it is read back.',
    example: 'a size that the account’s plan does not include, accepted and ignored',
    wayOut: 'Check what the plan of the account allows.',
  },
  'project-busy': {
    rule: 'A project runs the operations of one call at a time (423).',
    example: 'somebody else’s operation that does not end',
    wayOut:
      'Look with espalier operations list --status running, and apply again, perhaps with a longer --lock-timeout.',
  },
  'rate-limited': {
    rule: 'The API takes so many requests a minute (429).',
    example: 'several programs with one account',
    wayOut: 'Apply again later, or with a lower --concurrency.',
  },
  auth: {
    rule: 'The key may do what a step does (401, 403).',
    example: 'a key that was revoked, or one that reads only',
    wayOut: 'Take another key and apply again.',
  },
  'changed-meanwhile': {
    rule: 'A step is sent only while what it changes and relies on is as the plan has it.',
    example: 'somebody resized the compute while the step waited for a lock',
    wayOut: 'Run espalier plan to review the project as it is now, then apply again.',
  },
  'depends-on-failed': {
    rule: 'A step runs once those before it are done.',
    example: 'a primary whose place was not freed',
    wayOut: 'Remove what kept the earlier step, and apply again.',
  },
  'not-consented': {
    rule: 'A plain yes covers the harmless and restarts, and nothing else.',
    example: '--allow delete,move',
    wayOut: 'Allow it, if that is what you want.',
  },
  protected: {
    rule: 'Nothing on a protected branch is deleted, moved or replaced.',
    example: 'protect: true',
    wayOut: 'Take the protection out first, in a change of its own.',
  },
  'outside-window': {
    rule: 'A step that interrupts waits for its restart window.',
    example: 'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: Europe/Berlin }',
    wayOut: 'Apply again in the window, or with --now.',
  },
  interrupted: {
    rule: 'An interrupted run starts no new step.',
    example: 'Ctrl-C, SIGTERM, a journal on a full disk',
    wayOut: 'Apply again: it plans again and continues.',
  },
}
