/** The stored source file, changed concurrently by several projects. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SourceFile } from '../../src/agent/data-folder.ts'
import { folderSource } from '../../src/agent/index.ts'
import { DesiredState } from '../../src/agent/source/desired-state.ts'

const IDS = ['quiet-river-12345678', 'bold-hill-87654321']
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-agent-'))
})
afterEach(() => rm(folder, { recursive: true }))

const declare = (id: string) =>
  writeFile(join(folder, `${id}.yaml`), `version: 1\nproject: ${id}\nbranches:\n  main: { primary: { size: 1 } }\n`)

test('concurrent changes to the source file are all saved, and the last write contains all of them', async () => {
  const written: SourceFile[] = []
  let turns = 16
  const data = {
    readSource: async () => ({ from: folder, introduced: IDS, valid: { version: '1', projects: {} } }),
    // Later writes take less time than earlier ones.
    writeSource: async (file: SourceFile) => {
      turns /= 2
      for (let left = turns; left > 0; left -= 1) await nextTurn()
      written.push(file)
    },
  }
  for (const id of IDS) await declare(id)
  const state = await DesiredState.open({ ...folderSource([folder], folder), from: folder }, data, () => 1)
  await state.refresh()
  expect(IDS.map((id) => state.of(id)?.isNew)).toEqual([true, true])
  await Promise.all(IDS.map((id) => state.recorded(id)))
  expect(IDS.map((id) => state.of(id)?.isNew)).toEqual([false, false])
  expect(written.at(-1)).toMatchObject({ introduced: [] })
})
