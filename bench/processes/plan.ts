/**
 * Does the work of `espalier plan`, but without the rate limit, which would dominate the measurement. Prints the plan
 * to stdout. Usage: `plan MANIFEST URL KEY`.
 */
import { createReadApi } from '../../src/api/index.ts'
import { terminalPlan } from '../../src/report/index.ts'
import { planLive, readManifests } from '../../src/workflow/index.ts'

const [path = '', baseUrl = '', apiKey = ''] = process.argv.slice(2)
const manifests = await readManifests([path])
const [wrong] = manifests.loaded.diagnostics
if (wrong !== undefined) throw new Error(`the bench's own manifest is invalid: ${wrong.message}`)
const api = createReadApi({ baseUrl, apiKey, rateLimit: false })
const { observed, result } = await planLive(api, manifests)
await api.close()
if (!result.ok) throw new Error(`the bench's own fleet cannot be planned: ${result.diagnostics[0]?.message}`)
process.stdout.write(terminalPlan(result.plan, { color: false, width: 100 }, { takenAt: observed.takenAt }))
