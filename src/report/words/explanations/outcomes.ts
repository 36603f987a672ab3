/** Explains impacts, and the reasons why a step was not done. */
import type { FailureReason, Impact } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'

export const OF_IMPACT: Readonly<Record<Impact, Omit<Explanation, 'rule'>>> = {
  none: { example: 'a change of the scale-to-zero time or the name, or any change of an idle compute' },
  'may-restart': {
    example: 'a change of postgres.settings, some of which take effect only after a restart',
    wayOut: 'Treat the change as a restart.',
  },
  restart: {
    example: 'a change of the size, the autoscaling limits or the preloaded libraries',
    wayOut: 'Applications must reconnect. A restart needs no --allow flag, only the usual confirmation.',
  },
  disconnect: { example: 'disabled: true', wayOut: 'Apply it with --allow disconnect.' },
  move: {
    example: 'a pin that moves a compute to another branch: the host stays the same, but serves other data',
    wayOut: 'Apply it with --allow move.',
  },
  replace: {
    example: 'a pinned replica that is declared as a primary',
    wayOut: 'Apply it with --allow replace, then configure the new host in your applications.',
  },
  delete: {
    example: 'primary: absent, prune: true',
    wayOut: 'Apply it with --allow delete. The hostname cannot be restored.',
  },
}

export const OF_FAILURE: Readonly<Record<FailureReason, Explanation>> = {
  'apply-failed': {
    rule: 'The control API must accept the request for a step.',
    example: 'status 422, because a limit of the account would be exceeded',
    wayOut: 'The message comes from the API. Fix the cause and apply again.',
  },
  'operation-failed': {
    rule: 'All operations of a step must succeed.',
    example: 'apply_config ended with the status failed, cancelled or skipped',
    wayOut: 'Find the cause with espalier operations list, then apply again.',
  },
  'operation-timeout': {
    rule: 'The operations of a step must finish within --operation-timeout.',
    example: '--operation-timeout 10m',
    wayOut: 'The operations continue on the service. Wait for them with espalier operations wait, then apply again.',
  },
  'not-effective': {
    rule: 'When a compute is read back after a change, it must have the requested values.',
    example: "a size above the limit of the account's plan, which the service accepts but ignores",
    wayOut: "Check what the account's plan allows.",
  },
  'project-busy': {
    rule: 'A project runs the operations of only one request at a time. It rejects other changes with status 423.',
    example: 'a long operation that somebody else started',
    wayOut:
      'Find it with espalier operations list --status running. Apply again, with a longer --lock-timeout if needed.',
  },
  'rate-limited': {
    rule: 'The API limits the number of requests per minute (429).',
    example: 'several programs that use the same account',
    wayOut: 'Apply again later, or with a lower --concurrency.',
  },
  auth: {
    rule: 'The API key must be valid (401) and have permission for the request (403).',
    example: 'a revoked or read-only key',
    wayOut: 'Use another key and apply again.',
  },
  'changed-meanwhile': {
    rule: 'A step is sent only if everything that it changes or relies on is still as the plan assumed.',
    example: 'somebody resized the compute while the step waited for a lock',
    wayOut: 'Run espalier plan to review the current state of the project, then apply again.',
  },
  'depends-on-failed': {
    rule: 'A step runs only if the steps that it depends on have succeeded.',
    example: 'a primary could not be created, because the other primary of its branch could not be deleted',
    wayOut: 'Fix the earlier step, then apply again.',
  },
  'too-many-failures': {
    rule: 'Once more steps have failed than --max-failures allows, no other step starts.',
    example: '--max-failures 0, and the first step fails',
    wayOut: 'Fix the cause of the failures, then apply again.',
  },
  'not-consented': {
    rule: 'Confirmation alone allows only restarts and changes that interrupt no one.',
    mistake: 'espalier apply --auto-approve',
    correction: 'espalier apply --auto-approve --allow delete',
    wayOut: 'Allow other kinds of changes with --allow.',
  },
  protected: {
    rule: 'Computes on a protected branch cannot be deleted, moved or replaced.',
    example: 'protect: true',
    wayOut: 'First remove the protection, in a change of its own.',
  },
  'outside-window': {
    rule: 'A step that interrupts connections runs only during its restart window.',
    mistake: 'espalier apply --auto-approve',
    correction: 'espalier apply --auto-approve --now',
    wayOut: 'Apply again during the window, or with --now.',
  },
  interrupted: {
    rule: 'An interrupted run starts no new step.',
    example: 'Ctrl-C, SIGTERM, or a journal on a full disk',
    wayOut: 'Apply again. The new run makes a new plan, with the changes that are left.',
  },
}
