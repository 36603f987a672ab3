/** A fake agent: tests set the view that it returns and check the calls that it received. */
import type { AgentControl, RoundView, ShownDifference } from '../../src/agent/control.ts'
import type { PastApply } from '../../src/agent/data-folder.ts'
import type { AgentView, Plan, ProjectView } from '../../src/model/index.ts'

export const START = Date.parse('2026-11-22T01:00:00.000Z')
export const at = (seconds: number): string => new Date(START + seconds * 1_000).toISOString()

export const project = (id: string, more: Partial<ProjectView> = {}): ProjectView => ({
  id,
  account: 'default',
  state: 'Synced',
  since: at(0),
  isFresh: true,
  sync: 'Synced',
  differences: [],
  released: [],
  scheduledSteps: 0,
  missedWindows: 0,
  version: '0123456789abcdef0123456789abcdef01234567',
  refreshedAt: at(0),
  ...more,
})

export const viewOf = (projects: readonly ProjectView[], more: Partial<AgentView> = {}): AgentView => ({
  version: '1.2.3',
  startedAt: at(-3_600),
  tickedAt: at(0),
  source: {
    kind: 'git',
    from: 'https://git.example/team/computes.git',
    ref: 'main',
    version: '0123456789abcdef0123456789abcdef01234567',
    committedAt: at(-600),
    fetchedAt: at(-10),
  },
  accounts: [
    {
      name: 'default',
      projects: projects.length,
      intervalSeconds: 300,
      isStretched: false,
      requests: { 200: 12, 429: 1 },
    },
  ],
  projects,
  ...more,
})

export class FakeControl implements AgentControl {
  shown: AgentView
  idleMs = 0
  history: readonly PastApply[] = []
  readonly plans = new Map<string, Plan>()
  readonly asked: (readonly unknown[])[] = []
  readonly #watchers = new Set<() => void>()
  readonly #roundWatchers = new Set<(round: RoundView) => void>()

  constructor(projects: readonly ProjectView[] = []) {
    this.shown = viewOf(projects)
  }

  show(projects: readonly ProjectView[], more: Partial<AgentView> = {}): void {
    this.shown = { ...this.shown, ...more, projects }
    for (const watcher of this.#watchers) watcher()
  }
  round(round: Partial<RoundView> & { readonly project: string }): void {
    for (const watcher of this.#roundWatchers)
      watcher({ result: 'unchanged', durationMs: 250, delayMs: 0, observations: [], ...round })
  }

  view(): AgentView {
    return this.shown
  }
  async historyOf(): Promise<readonly PastApply[]> {
    return this.history
  }
  planOf(id: string): Plan | undefined {
    return this.plans.get(id)
  }
  watch(listener: () => void): () => void {
    this.#watchers.add(listener)
    return () => this.#watchers.delete(listener)
  }
  watchRounds(listener: (round: RoundView) => void): () => void {
    this.#roundWatchers.add(listener)
    return () => this.#roundWatchers.delete(listener)
  }
  get watchers(): number {
    return this.#watchers.size + this.#roundWatchers.size
  }
  async reconcile(projects: readonly string[] | 'all', accept?: string): Promise<void> {
    this.asked.push(['reconcile', projects, accept])
  }
  async adopt(project: string, commit: string, shown: readonly ShownDifference[]): Promise<void> {
    this.asked.push(['adopt', project, commit, shown])
  }
  async suspend(projects: readonly string[] | 'all', until: number, reason: string): Promise<void> {
    this.asked.push(['suspend', projects, until, reason])
  }
  async resume(projects: readonly string[] | 'all'): Promise<void> {
    this.asked.push(['resume', projects])
  }
  fetchSoon(): void {
    this.asked.push(['fetchSoon'])
  }
}
