/** Faults that produce no error: lists show an old state, and updates are accepted but not executed. */
import type { Context } from 'hono'
import type { ProjectTables } from '../world/tables.ts'
import type { World } from '../world/world.ts'

/** Makes the lists in the response to this request show the state that the project had at `time`. */
export const lagBehind = (context: Context, time: number): void => context.set('listedAsOf', time)

/** The state of the project that lists in the response to this request must show. */
export const listed = (context: Context, world: World, projectId: string): ProjectTables => {
  const time: number | undefined = context.get('listedAsOf')
  return time === undefined ? world.project(projectId) : world.projectAt(projectId, time)
}

/** @param names the attributes of an update that must be ignored, or `undefined` to ignore all of them. */
export const ignoreAttributes = (context: Context, names: readonly string[] | undefined): void =>
  context.set('isIgnored', (name: string) => names === undefined || names.includes(name))

/** The attributes of an update, without those that must be ignored. */
export const withoutIgnored = <T extends object>(context: Context, endpoint: T): Partial<T> => {
  const isIgnored: ((name: string) => boolean) | undefined = context.get('isIgnored')
  if (isIgnored === undefined) return endpoint
  return Object.fromEntries(Object.entries(endpoint).filter(([name]) => !isIgnored(name))) as Partial<T>
}
