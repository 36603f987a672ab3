/** The agent: reconciles projects with their manifests, using the CLI's planner, apply and checks. */

export { readJournal } from './act/recovery.ts'
export { type Agent, openAgent } from './agent.ts'
export { openDataFolder } from './data-folder.ts'
export type { AgentKey } from './source/accounts.ts'
export { Secret } from './source/secret.ts'
export { folderSource, gitSource, type Source } from './source/source.ts'
export { parseListenAddress } from './tell/http/access.ts'
export { serveAgent } from './tell/http/serve-agent.ts'
export { Notifier, notifyKey, sendTo } from './tell/notifier.ts'
