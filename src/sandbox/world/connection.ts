/** Writes connection strings. */
import type { Computes, Login } from '../computes/computes.ts'
import { catalogOf } from './catalog.ts'
import type { BranchRecord, ComputeRecord, ProjectRecord } from './records.ts'

export interface Connection {
  readonly uri: string
  readonly pooledUri: string
}

/** The host name of the service's proxy in the region of the project. */
export const proxyHost = ({ regionId }: ProjectRecord): string => `${regionId.replace(/^aws-/, '')}.aws.neon.tech`

export const hostOf = ({ id }: Pick<ComputeRecord, 'id'>, project: ProjectRecord): string =>
  `${id}.${proxyHost(project)}`

export const poolerHostOf = ({ id }: Pick<ComputeRecord, 'id'>, project: ProjectRecord): string =>
  `${id}-pooler.${proxyHost(project)}`

/** A login for the first database whose owner has a known password, or `undefined` if there is no such database. */
export const defaultLogin = (branch: BranchRecord | undefined): Login | undefined => {
  const { roles, databases } = catalogOf(branch ?? {})
  for (const { name: database, owner } of databases) {
    const password = roles.find(({ name, canLogin }) => name === owner && canLogin)?.password
    if (password !== undefined) return { user: owner, password, database }
  }
  return undefined
}

/** Connection strings of real computes lead to this machine. For simulated computes, they look like the service's. */
export const connectionTo = async (
  compute: ComputeRecord,
  project: ProjectRecord,
  computes: Computes,
  login: Login,
): Promise<Connection> => {
  const address = await computes.address(compute.id)
  if (address === undefined) {
    return {
      uri: uriOf(login, hostOf(compute, project), '?sslmode=require'),
      pooledUri: uriOf(login, poolerHostOf(compute, project), '?sslmode=require'),
    }
  }
  return {
    uri: uriOf(login, `${address.host}:${address.port}`),
    pooledUri: uriOf(login, `${address.host}:${address.sharedPort}`, `?options=endpoint%3D${compute.id}-pooler`),
  }
}

const uriOf = ({ user, password, database }: Login, host: string, query = ''): string =>
  `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}/${encodeURIComponent(database)}${query}`
