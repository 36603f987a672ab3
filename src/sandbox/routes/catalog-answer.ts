/** Roles, databases and connection strings in the response that creates a branch. */
import type { Computes } from '../computes/computes.ts'
import { catalogOf } from '../world/catalog.ts'
import { connectionTo, defaultLogin, hostOf, poolerHostOf } from '../world/connection.ts'
import type { BranchRecord, ComputeRecord, ProjectRecord } from '../world/records.ts'
import { presentDatabase, presentRole } from './present.ts'

/** Includes a connection string only if there is a compute, and exactly one role and one database (public OpenAPI). */
export const catalogAnswer = async (
  branch: BranchRecord,
  compute: ComputeRecord | undefined,
  project: ProjectRecord,
  computes: Computes,
) => {
  const { roles, databases } = catalogOf(branch)
  const login = roles.length === 1 && databases.length === 1 ? defaultLogin(branch) : undefined
  return {
    roles: roles.map((role) => presentRole(role, branch.id, true)),
    databases: databases.map((database) => presentDatabase(database, branch.id)),
    connection_uris:
      compute === undefined || login === undefined
        ? []
        : [
            {
              connection_uri: (await connectionTo(compute, project, computes, login)).uri,
              connection_parameters: {
                database: login.database,
                password: login.password,
                role: login.user,
                host: hostOf(compute, project),
                pooler_host: poolerHostOf(compute, project),
              },
            },
          ],
  }
}
