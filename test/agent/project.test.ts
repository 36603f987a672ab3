/** How a project writes what must survive a restart. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ProjectFile } from '../../src/agent/data-folder.ts'
import type { ProjectHost } from '../../src/agent/memory.ts'
import { AgentProject } from '../../src/agent/project.ts'

const open = (
  writeProject: (project: string, file: ProjectFile) => Promise<void>,
  lost: (error: unknown) => void = () => undefined,
): AgentProject =>
  new AgentProject('quiet-river-12345678', {
    startedAt: 0,
    accounts: { of: () => undefined },
    wake: () => undefined,
    data: { writeProject, isFull: () => false },
    lost,
  } as unknown as ProjectHost)

test('a suspension is on disk once the request ends, and an unchanged file is not written', async () => {
  const onDisk: ProjectFile[] = []
  const project = open(async (_, file) => {
    await nextTurn()
    onDisk.push(file)
  })
  await project.suspend({ until: 1, reason: 'a migration' })
  expect(onDisk).toMatchObject([{ suspension: { until: 1, reason: 'a migration' } }])
  await project.suspend({ until: 1, reason: 'a migration' })
  expect(onDisk).toHaveLength(1)
})

test('a failed write of a project file is reported', async () => {
  const lost: unknown[] = []
  const full = new Error('ENOSPC')
  const project = open(
    () => Promise.reject(full),
    (error) => lost.push(error),
  )
  await expect(project.resume()).rejects.toBe(full)
  expect(lost).toEqual([full])
})
