/** The agent: reconciles projects with their manifests, using the CLI's planner, apply and checks. */
export type { AgentKey } from './accounts.ts'
export { openAgent, type RunningAgent } from './agent.ts'
export { openDataFolder } from './data-folder.ts'
export { parseListenAddress } from './http/address.ts'
export { serveAgent } from './http/serve-agent.ts'
export { readJournal } from './recovery.ts'
export { folderSource, gitSource, type Source } from './source.ts'
export { Notifier, notifyKey, sendTo } from './tell/notifier.ts'
