/** A read API for projects in memory. */
import { ApiError, type ReadApi } from '../../src/api/index.ts'
import type { ObservedProject } from '../../src/model/index.ts'

const nothing = (): Promise<never> => Promise.reject(new Error('not expected here'))

/** @param failures errors that listing the computes of a project throws, by project id. */
export const fakeProjects = (
  projects: readonly ObservedProject[],
  failures: Readonly<Record<string, Error>> = {},
): ReadApi => {
  const found = (id: string): ObservedProject => {
    const failure = failures[id]
    if (failure !== undefined) throw failure
    const project = projects.find((one) => one.id === id)
    if (project === undefined) throw refused(404)
    return project
  }
  return {
    account: async () => undefined,
    listProjects: nothing,
    searchProjects: async (text = '') =>
      projects.flatMap(({ id, name = id }) => (name.includes(text) ? { id, name } : [])),
    projectDetails: async (id) => {
      const project = projects.find((one) => one.id === id)
      return project?.name === undefined ? undefined : { id, name: project.name, settings: project.settings ?? {} }
    },
    listBranches: async (id) => found(id).branches,
    listComputes: async (id) => found(id).computes,
    getCompute: nothing,
    listOperations: async () => ({ operations: [] }),
    getOperation: nothing,
    serviceTime: Date.now,
    close: async () => undefined,
  }
}

export const refused = (status: number, code = 'E_API'): ApiError =>
  new ApiError(code, `The service says ${status}`, { method: 'GET', path: '/projects/x/endpoints', status })
