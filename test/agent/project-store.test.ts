import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { NEW_PROJECT_FILE, type ProjectFile } from '../../src/agent/data-folder.ts'
import { ProjectStore } from '../../src/agent/project-store.ts'

const open = (writeProject: (project: string, file: ProjectFile) => Promise<void>, lost: (error: unknown) => void) =>
  new ProjectStore('quiet-river-12345678', { writeProject }, undefined, lost)

test('a change to a project file counts as saved only once it is on disk', async () => {
  const onDisk: ProjectFile[] = []
  const store = open(
    async (_, file) => {
      await nextTurn()
      onDisk.push(file)
    },
    () => undefined,
  )
  const saved = store.saveAs((file) => ({ ...file, events: ['an event'] }))
  expect(store.file.events).toEqual(['an event'])
  expect(store.saved).toEqual(NEW_PROJECT_FILE)
  await saved
  expect(store.saved).toEqual(store.file)
  await store.saveAs((file) => file)
  expect(onDisk).toEqual([store.file])
})

test('a failed write of a project file is reported and does not count as saved', async () => {
  const lost: unknown[] = []
  const full = new Error('ENOSPC')
  const store = open(
    () => Promise.reject(full),
    (error) => lost.push(error),
  )
  await expect(store.saveAs((file) => ({ ...file, failures: 1 }))).rejects.toBe(full)
  expect(lost).toEqual([full])
  expect(store.saved).toEqual(NEW_PROJECT_FILE)
})
