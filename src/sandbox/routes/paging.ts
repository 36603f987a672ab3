/** Pagination. Projects and operations use `cursor`, branches use `next` (public OpenAPI). */
import { z } from 'zod'
import type { BranchRecord, OperationRecord, ProjectRecord } from '../world/records.ts'
import { Refusal } from '../world/refusal.ts'
import type { ProjectTables, Tables } from '../world/tables.ts'
import { microseconds, parseMicroseconds, seconds } from './present.ts'
import type { branchesQuery, operationsQuery, projectsQuery } from './query.ts'

/** Every page has a cursor. After the last page it repeats the given one, which leads to an empty page. */
interface Page {
  readonly cursor: string
}

/** Cursor of an empty list: sorts before every id. A cursor must not be empty (public OpenAPI). */
export const NO_PROJECT = '-'

/** Sorted by id. */
export const projectPage = (
  tables: Tables,
  { limit, cursor, search }: Pick<z.output<typeof projectsQuery>, 'limit' | 'cursor' | 'search'>,
  isListed: (project: ProjectRecord) => boolean,
): Page & { readonly projects: readonly ProjectRecord[] } => {
  const ids = tables.projectIds()
  const wanted = search.toLowerCase()
  const projects: ProjectRecord[] = []
  for (let at = firstWhere(ids.length, (index) => (ids[index] ?? '') > cursor); at < ids.length; at += 1) {
    if (projects.length === limit) break
    const project = tables.projects.get(ids[at] ?? '')?.project
    if (project === undefined || !isListed(project)) continue
    if (project.id.includes(wanted) || project.name.toLowerCase().includes(wanted)) projects.push(project)
  }
  return { projects, cursor: projects.at(-1)?.id ?? (cursor || NO_PROJECT) }
}

/** Newest first; the cursor is the time of the page's last operation, in microseconds (docs/control-api.md). */
export const operationPage = (
  tables: ProjectTables,
  { limit, cursor }: z.output<typeof operationsQuery>,
): Page & { readonly operations: readonly OperationRecord[] } => {
  const before = cursor === '' ? Number.POSITIVE_INFINITY : parseMicroseconds(cursor)
  if (before === undefined) throw new Refusal(400, 'cursor: not a cursor of this list')
  const { operations: order, operationById } = tables
  const end = firstWhere(order.length, (index) => (order[index]?.createdAtUs ?? 0) >= before)
  const operations: OperationRecord[] = []
  for (let index = end - 1; index >= 0 && operations.length < limit; index -= 1) {
    const operation = operationById.get(order[index]?.id ?? '')
    if (operation !== undefined) operations.push(operation)
  }
  const last = operations.at(-1)
  return { operations, cursor: last === undefined ? cursor || microseconds(0) : microseconds(last.createdAtUs) }
}

type BranchesQuery = z.output<typeof branchesQuery>

const SORT_KEYS: Readonly<Record<BranchesQuery['sort_by'], (branch: BranchRecord) => string>> = {
  name: ({ name }) => name,
  created_at: ({ createdAt }) => seconds(createdAt),
  updated_at: ({ updatedAt }) => seconds(updatedAt),
}
const place = z.tuple([z.string(), z.string()])

interface BranchPage {
  readonly branches: readonly BranchRecord[]
  readonly pagination: { readonly next?: string; readonly sort_by: string; readonly sort_order: string }
}

/** `next` is the cursor of the next page; the last page has none. */
export const branchPage = (
  tables: ProjectTables,
  { limit, cursor, search, sort_by, sort_order }: BranchesQuery,
): BranchPage => {
  const key = SORT_KEYS[sort_by]
  const sign = sort_order === 'asc' ? 1 : -1
  const compare = ([a, idA]: readonly [string, string], [b, idB]: readonly [string, string]): number =>
    sign * (a < b ? -1 : a > b ? 1 : idA < idB ? -1 : idA > idB ? 1 : 0)
  const rows = [...tables.branches.values()]
    .filter(({ id, name }) => id.includes(search) || name.includes(search))
    .map((branch) => ({ branch, at: [key(branch), branch.id] as const }))
    .sort((a, b) => compare(a.at, b.at))
  const after = cursor === '' ? undefined : decode(cursor)
  const isPast = (at: readonly [string, string] | undefined): boolean =>
    after === undefined || (at !== undefined && compare(at, after) > 0)
  const start = firstWhere(rows.length, (index) => isPast(rows[index]?.at))
  const page = rows.slice(start, start + limit)
  const last = page.at(-1)
  const more = last !== undefined && start + page.length < rows.length
  return {
    branches: page.map(({ branch }) => branch),
    pagination: { ...(more ? { next: encode(last.at) } : {}), sort_by, sort_order: sort_order.toUpperCase() },
  }
}

const encode = (at: readonly [string, string]): string => Buffer.from(JSON.stringify(at)).toString('base64url')

const decode = (cursor: string): readonly [string, string] => {
  try {
    return place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
  } catch {
    throw new Refusal(400, 'cursor: not a cursor of this list')
  }
}

/** Binary search: the first index for which `holds` is true, or `length`. It must be true for all later ones too. */
const firstWhere = (length: number, holds: (index: number) => boolean): number => {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
