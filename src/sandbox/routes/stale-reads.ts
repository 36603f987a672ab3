/** Lists that lag behind, and updates that are accepted but not carried out. */
import type { Context } from 'hono'
import type { ProjectTables } from '../world/tables.ts'
import type { World } from '../world/world.ts'

/** @param time what lists of this request show is how it was then. */
export const lagBehind = (context: Context, time: number): void => context.set('listedAsOf', time)

/** The project as a list of this request shows it. */
export const listed = (context: Context, world: World, projectId: string): ProjectTables => {
  const time: number | undefined = context.get('listedAsOf')
  return time === undefined ? world.project(projectId) : world.projectAt(projectId, time)
}

/** @param names `undefined`: all of them. */
export const ignoreAttributes = (context: Context, names: readonly string[] | undefined): void =>
  context.set('isIgnored', (name: string) => names === undefined || names.includes(name))

/** The attributes of an update that this request carries out. */
export const withoutIgnored = <T extends object>(context: Context, endpoint: T): Partial<T> => {
  const isIgnored: ((name: string) => boolean) | undefined = context.get('isIgnored')
  if (isIgnored === undefined) return endpoint
  return Object.fromEntries(Object.entries(endpoint).filter(([name]) => !isIgnored(name))) as Partial<T>
}
