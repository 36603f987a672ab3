/** Pagination. Projects and operations use `cursor`, branches use `next` (public OpenAPI). */
import { z } from 'zod'
import { compare as compareText } from '../../base/index.ts'
import type { BranchRecord, OperationRecord, ProjectRecord } from '../world/records.ts'
import { ApiError } from '../world/requests.ts'
import type { ProjectTables, Tables } from '../world/tables.ts'
import { microseconds, parseMicroseconds, seconds } from './present.ts'
import type { branchesQuery, operationsQuery, projectsQuery } from './request.ts'

/** The cursor of an empty list, which sorts before every id. A cursor must not be empty (public OpenAPI). */
export const NO_PROJECT = '-'

/**
 * Returns a page of a list that is sorted by id. After the last page, the cursor stays the same, and pages are empty.
 */
export const projectPage = (
  tables: Tables,
  { limit, cursor, search }: Pick<z.output<typeof projectsQuery>, 'limit' | 'cursor' | 'search'>,
  isListed: (project: ProjectRecord) => boolean,
): { readonly projects: readonly ProjectRecord[]; readonly cursor: string } => {
  const wanted = search.toLowerCase()
  const isFound = ({ id, name }: ProjectRecord) => id.includes(wanted) || name.toLowerCase().includes(wanted)
  const projects = tables
    .projectIds()
    .filter((id) => id > cursor)
    .flatMap((id) => tables.projects.get(id)?.project ?? [])
    .filter((project) => isListed(project) && isFound(project))
    .slice(0, limit)
  return { projects, cursor: projects.at(-1)?.id ?? (cursor || NO_PROJECT) }
}

/**
 * Returns a page of operations, newest first. The cursor is the time of the last operation on the page, in microseconds
 * (docs/reference/control-api.md). After the last page, the cursor stays the same.
 */
export const operationPage = (
  { operations: order, operationById }: ProjectTables,
  { limit, cursor }: z.output<typeof operationsQuery>,
): { readonly operations: readonly OperationRecord[]; readonly cursor: string } => {
  const before = cursor === '' ? Number.POSITIVE_INFINITY : parseMicroseconds(cursor)
  if (before === undefined) throw new ApiError(400, 'cursor: is not valid for this list')
  const page = order.filter(({ createdAtUs }) => createdAtUs < before).slice(-limit)
  const operations = page.flatMap(({ id }) => operationById.get(id) ?? []).reverse()
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

/** Returns a page of branches. `next` is the cursor of the next page. The last page has no `next`. */
export const branchPage = (tables: ProjectTables, { limit, cursor, search, sort_by, sort_order }: BranchesQuery) => {
  const key = SORT_KEYS[sort_by]
  const sign = sort_order === 'asc' ? 1 : -1
  const compare = ([a, idA]: readonly [string, string], [b, idB]: readonly [string, string]): number =>
    sign * (compareText(a, b) || compareText(idA, idB))
  const rows = [...tables.branches.values()]
    .filter(({ id, name }) => id.includes(search) || name.includes(search))
    .map((branch) => ({ branch, at: [key(branch), branch.id] as const }))
    .sort((a, b) => compare(a.at, b.at))
  const after = cursor === '' ? undefined : decode(cursor)
  const rest = after === undefined ? rows : rows.filter(({ at }) => compare(at, after) > 0)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  const next = last === undefined || rest.length === page.length ? undefined : encode(last.at)
  return {
    branches: page.map(({ branch }) => branch),
    pagination: { next, sort_by, sort_order: sort_order.toUpperCase() },
  }
}

const encode = (at: readonly [string, string]): string => Buffer.from(JSON.stringify(at)).toString('base64url')

const decode = (cursor: string): readonly [string, string] => {
  try {
    return place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
  } catch {
    throw new ApiError(400, 'cursor: is not valid for this list')
  }
}
