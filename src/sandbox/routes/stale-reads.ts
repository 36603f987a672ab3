/** Faults that go unnoticed: lists that lag behind, and updates that are accepted but not executed. */
import type { Context } from 'hono'
import type { ProjectTables } from '../world/tables.ts'
import type { World } from '../world/world.ts'

/** Makes lists in the response to this request show the state at `time`. */
export const lagBehind = (context: Context, time: number): void => context.set('listedAsOf', time)

/** The project's state for lists in the response to this request. */
export const listed = (context: Context, world: World, projectId: string): ProjectTables => {
  const time: number | undefined = context.get('listedAsOf')
  return time === undefined ? world.project(projectId) : world.projectAt(projectId, time)
}

/** @param names attributes of an update to ignore; `undefined`: all. */
export const ignoreAttributes = (context: Context, names: readonly string[] | undefined): void =>
  context.set('isIgnored', (name: string) => names === undefined || names.includes(name))

/** The attributes of an update without the ignored ones. */
export const withoutIgnored = <T extends object>(context: Context, endpoint: T): Partial<T> => {
  const isIgnored: ((name: string) => boolean) | undefined = context.get('isIgnored')
  if (isIgnored === undefined) return endpoint
  return Object.fromEntries(Object.entries(endpoint).filter(([name]) => !isIgnored(name))) as Partial<T>
}
