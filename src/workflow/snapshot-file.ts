/** Reads and writes snapshot files, from which a plan can be made offline. */
import { z } from 'zod'
import { settingsShape } from '../apply/index.ts'
import { EspalierError, fileProblem, MAX_JSON_BYTES, parseJson, plainJson, readBoundedFile } from '../base/index.ts'
import { issueAt } from '../base/issue-text.ts'
import { VERSION } from '../base/version.ts'
import { ID, type Observed, REPAIRS, shapesByAttribute } from '../model/index.ts'

const FORMAT = '1.0'
const KIND = 'espalier-snapshot'

const attributes = z.strictObject(
  shapesByAttribute({
    text: z.string().exactOptional(),
    flag: z.boolean().exactOptional(),
    seconds: z.int().exactOptional(),
    size: z.object({ min: z.number().positive(), max: z.number().positive() }).exactOptional(),
    list: z.array(z.string()).exactOptional(),
    map: z.record(z.string(), z.string()).exactOptional(),
  }),
)
const id = z.string().regex(ID)
// Unknown fields are ignored, because another version of Espalier may have written the file.
const compute = z.object({
  id,
  branchId: id,
  type: z.enum(['read_write', 'read_only']),
  host: z.string(),
  state: z.string(),
  pendingState: z.string().exactOptional(),
  attributes,
  settings: settingsShape.exactOptional(),
  createdAt: z.string().exactOptional(),
  lastActive: z.string().exactOptional(),
  startedAt: z.string().exactOptional(),
  updatedAt: z.string().exactOptional(),
  suspendedAt: z.string().exactOptional(),
  proxyHost: z.string().exactOptional(),
  regionId: z.string().exactOptional(),
  provisioner: z.string().exactOptional(),
  creationSource: z.string().exactOptional(),
})
const branch = z.object({
  id,
  name: z.string(),
  isDefault: z.boolean(),
  isProtected: z.boolean(),
  parentId: z.string().exactOptional(),
  createdAt: z.string().exactOptional(),
  expiresAt: z.string().exactOptional(),
  usage: z.object({ activeSeconds: z.number(), computeSeconds: z.number() }).exactOptional(),
})
const projectSettings = z.object({
  subscription: z.string().exactOptional(),
  computeDefaults: attributes.exactOptional(),
  quota: z
    .object({ computeSeconds: z.number().exactOptional(), activeSeconds: z.number().exactOptional() })
    .exactOptional(),
  maintenanceWindow: z.object({ weekdays: z.array(z.int()), from: z.string(), to: z.string() }).exactOptional(),
  maintenanceScheduledFor: z.string().exactOptional(),
  period: z.object({ start: z.string(), end: z.string() }).exactOptional(),
})
const observed = z.strictObject({
  takenAt: z.iso.datetime(),
  projects: z.array(
    z.strictObject({
      id,
      name: z.string().exactOptional(),
      branches: z.array(branch),
      computes: z.array(compute),
      pastOperations: z
        .array(
          z.object({
            action: z.string(),
            durationMs: z.number(),
            computeId: z.string().exactOptional(),
            at: z.string().exactOptional(),
          }),
        )
        .exactOptional(),
      operationsSince: z.string().exactOptional(),
      settlement: z
        .object({
          unsettled: z.array(
            z.object({
              id: z.string(),
              operation: z.object({ id: z.string(), action: z.string(), status: z.string(), updatedAt: z.string() }),
              repair: z.enum(REPAIRS),
            }),
          ),
          open: z.array(z.object({ compute: z.string(), operation: z.string() })),
          unknown: z.array(z.string()),
        })
        .exactOptional(),
      settings: projectSettings.exactOptional(),
    }),
  ),
  missing: z.array(z.string()),
  namesakes: z.array(z.strictObject({ name: z.string(), ids: z.array(z.string()) })).exactOptional(),
  unreadable: z
    .array(z.strictObject({ id: z.string(), message: z.string(), hint: z.string().exactOptional() }))
    .exactOptional(),
}) satisfies z.ZodType<Observed>
const fileShape = z.object({
  kind: z.literal(KIND),
  formatVersion: z.literal(FORMAT),
  espalier: z.string(),
  observed,
})

export const encodeSnapshot = (seen: Observed): string =>
  `${plainJson({ kind: KIND, formatVersion: FORMAT, espalier: VERSION, observed: seen }, 2)}\n`

/** Matches the start of a snapshot file. */
export const SNAPSHOT_START = /^\s*\{\s*"kind":\s*"espalier-snapshot"/

/** @throws {EspalierError} `E_SNAPSHOT` if the file cannot be read, or is not a snapshot. */
export const readSnapshot = async (path: string): Promise<Observed> => {
  const text = await readBoundedFile(path, MAX_JSON_BYTES).catch((cause: unknown) => {
    throw wrong(path, fileProblem(cause), cause)
  })
  const read = parseJson(text)
  if (!read.ok) throw wrong(path, read.why)
  const parsed = fileShape.safeParse(read.value)
  if (parsed.success) return parsed.data.observed
  throw wrong(path, issueAt(parsed.error.issues[0], 'it'))
}

const wrong = (path: string, why: string, cause?: unknown): EspalierError =>
  new EspalierError('E_SNAPSHOT', `${path} cannot be used as a snapshot (${why}).`, {
    hint: 'Take one with `espalier snapshot --out FILE`.',
    cause,
  })
