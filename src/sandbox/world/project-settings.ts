/**
 * The settings of a project. They are stored as given, but shown with all members, because clients rely on all of them.
 */
import { ApiError } from './api-error.ts'
import type { ProjectSettings } from './requests.ts'

/**
 * The members in the request replace the existing members. Only `allowed_ips` is merged, because clients may send only
 * a part of it.
 *
 * @throws {ApiError} 400 if the request disables a setting that cannot be disabled (public OpenAPI).
 */
export const withSettings = (before: ProjectSettings, requested: ProjectSettings): ProjectSettings => {
  if (before.enable_logical_replication === true && requested.enable_logical_replication === false) {
    throw new ApiError(400, 'project.settings.enable_logical_replication: once enabled, it cannot be disabled')
  }
  if (before.hipaa === true && requested.hipaa === false) {
    throw new ApiError(400, 'project.settings.hipaa: disabling HIPAA is not allowed')
  }
  const given = Object.fromEntries(Object.entries(requested).filter(([, value]) => value !== undefined))
  const allowed =
    requested.allowed_ips === undefined ? {} : { allowed_ips: { ...before.allowed_ips, ...requested.allowed_ips } }
  return { ...before, ...given, ...allowed }
}

export const shownSettings = (given: ProjectSettings = {}) => ({
  ...given,
  quota: given.quota ?? {},
  allowed_ips: {
    ips: given.allowed_ips?.ips ?? [],
    protected_branches_only: given.allowed_ips?.protected_branches_only ?? false,
  },
  enable_logical_replication: given.enable_logical_replication ?? false,
  // On the service, every project has a maintenance window. Its time does not matter, because the sandbox runs no
  // updates.
  maintenance_window: given.maintenance_window ?? { weekdays: [7], start_time: '04:00', end_time: '05:00' },
  block_public_connections: given.block_public_connections ?? false,
  block_vpc_connections: given.block_vpc_connections ?? false,
  hipaa: given.hipaa ?? false,
})
