import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ProjectFile } from '../../src/agent/data-folder.ts'
import { ProjectStore } from '../../src/agent/project-store.ts'

const open = (writeProject: (project: string, file: ProjectFile) => Promise<void>, lost: (error: unknown) => void) =>
  new ProjectStore('quiet-river-12345678', { writeProject }, undefined, lost)

test('a change to a project file is on disk once its write ends, and an unchanged file is not written', async () => {
  const onDisk: ProjectFile[] = []
  const store = open(
    async (_, file) => {
      await nextTurn()
      onDisk.push(file)
    },
    () => undefined,
  )
  await store.saveAs((file) => ({ ...file, failures: 1 }))
  expect(store.file.failures).toBe(1)
  await store.saveAs((file) => file)
  expect(onDisk).toEqual([store.file])
})

test('a failed write of a project file is reported', async () => {
  const lost: unknown[] = []
  const full = new Error('ENOSPC')
  const store = open(
    () => Promise.reject(full),
    (error) => lost.push(error),
  )
  await expect(store.saveAs((file) => ({ ...file, failures: 1 }))).rejects.toBe(full)
  expect(lost).toEqual([full])
})
