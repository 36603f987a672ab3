/** Codes for impacts, and for the reasons why a step was not done. */
import type { FailureReason, Impact } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'

export const OF_IMPACT: Readonly<Record<Impact, Omit<Explanation, 'rule'>>> = {
  none: { example: 'a new name or scale-to-zero time, or any change to an idle compute' },
  'may-restart': {
    example: 'a change to postgres.settings, where some settings take effect only after a restart',
    wayOut: 'Treat the change as a restart.',
  },
  restart: {
    example: 'a change to the size, the autoscaling limits or the preloaded libraries',
    wayOut: 'Applications must reconnect. A restart needs no --allow: answering yes is enough.',
  },
  disconnect: { example: 'disabled: true', wayOut: 'Apply it with --allow disconnect.' },
  move: {
    example: 'a pin moves a compute to another branch: its host stays the same, but its data is different',
    wayOut: 'Apply it with --allow move.',
  },
  replace: {
    example: 'a pinned replica that is declared as a primary',
    wayOut: 'Apply it with --allow replace. Afterwards, applications must connect to the new host.',
  },
  delete: {
    example: 'primary: absent, prune: true',
    wayOut: 'Apply it with --allow delete. The hostname cannot be restored.',
  },
}

export const OF_FAILURE: Readonly<Record<FailureReason, Explanation>> = {
  'apply-failed': {
    rule: 'The control API must accept the request for a step.',
    example: 'the API returns status 422 because an account limit is exceeded',
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
    rule: 'The compute must have the requested values when it is read again after the change.',
    example: "the account's plan does not allow a size, and the service accepts the request but ignores the size",
    wayOut: "Check what the account's plan allows.",
  },
  'project-busy': {
    rule: 'The service runs the operations of only one request at a time in each project. It answers others with status 423.',
    example: 'an operation that somebody else started takes too long',
    wayOut:
      'Find it with espalier operations list --status running. Apply again, with a longer --lock-timeout if needed.',
  },
  'rate-limited': {
    rule: 'The API limits the number of requests per minute. It rejects others with status 429.',
    example: 'several programs use the same account',
    wayOut: 'Apply again later, or with a lower --concurrency.',
  },
  auth: {
    rule: 'The API key must have permission for the request. Otherwise the API returns status 401 or 403.',
    example: 'a revoked or read-only key',
    wayOut: 'Use another key and apply again.',
  },
  'changed-meanwhile': {
    rule: 'A step is sent only if everything that it changes or depends on is still as it was when the plan was made.',
    example: 'somebody resized the compute while the step waited for a lock',
    wayOut: 'Run espalier plan to review the current state of the project, then apply again.',
  },
  'depends-on-failed': {
    rule: 'A step runs only after all steps that it depends on have succeeded.',
    example: 'a primary cannot be created because deleting the previous primary of the branch failed',
    wayOut: 'Fix the earlier step, then apply again.',
  },
  'too-many-failures': {
    rule: 'Once more steps have failed than --max-failures allows, no other step starts.',
    example: '--max-failures 0, and the first step fails',
    wayOut: 'Fix the cause of the failures, then apply again.',
  },
  'not-consented': {
    rule: 'Answering yes, or passing --auto-approve, allows only harmless changes and restarts.',
    mistake: 'espalier apply --auto-approve',
    correction: 'espalier apply --auto-approve --allow delete',
    wayOut: 'Use --allow to permit the other kinds of change.',
  },
  protected: {
    rule: 'Computes on a protected branch cannot be deleted, moved or replaced.',
    example: 'protect: true',
    wayOut: 'First remove the protection, in a change of its own.',
  },
  'outside-window': {
    rule: 'A step that interrupts users runs only in its restart window.',
    mistake: 'espalier apply --auto-approve',
    correction: 'espalier apply --auto-approve --now',
    wayOut: 'Apply again while the window is open, or use --now.',
  },
  interrupted: {
    rule: 'A run that is interrupted starts no further steps.',
    example: 'Ctrl-C, SIGTERM, or a full disk that the journal cannot be written to',
    wayOut: 'Run apply again. It makes a new plan and continues from there.',
  },
}
