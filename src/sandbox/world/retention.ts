/** How far back a project's history reaches, in seconds (public OpenAPI). */
import type { ProjectRecord } from './records.ts'

const DEFAULT_SECONDS = 86_400

export const retentionOf = ({ historyRetentionSeconds }: ProjectRecord): number =>
  historyRetentionSeconds ?? DEFAULT_SECONDS
