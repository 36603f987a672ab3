/** The registry of running sandboxes reads and changes only its own entries. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { register, registered } from '../../src/cli/setup/sandbox-registry.ts'

const FOLDER = `espalier-sandboxes-${process.getuid?.() ?? 'user'}`
const OWN = { pid: process.pid, port: 7788, controlUrl: 'http://127.0.0.1:7788/_sandbox', controlToken: 'token' }
/** The process id of a process that has ended. */
const DEAD = { ...OWN, pid: spawnSync('true').pid, port: 7789 }

let scratch: string
let io: { readonly env: { readonly TMPDIR: string } }
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'espalier-registry-'))
  io = { env: { TMPDIR: scratch } }
})
afterEach(() => {
  rmSync(scratch, { recursive: true, force: true })
})

test('a running sandbox is found, and a stopped one is not', () => {
  const unregister = register(OWN, io)
  register(DEAD, io)
  expect(registered(io)).toEqual([OWN])
  expect(readdirSync(join(scratch, FOLDER))).toEqual(['7788.json'])
  unregister?.()
  expect(registered(io)).toEqual([])
})

test('only this user can read the registry folder, even if others could read it before', () => {
  mkdirSync(join(scratch, FOLDER))
  chmodSync(join(scratch, FOLDER), 0o755)
  register(OWN, io)
  expect(statSync(join(scratch, FOLDER)).mode & 0o777).toBe(0o700)
  expect(statSync(join(scratch, FOLDER, '7788.json')).mode & 0o777).toBe(0o600)
})

// promise: sandbox-link
test('a link in place of the registry folder is not followed', () => {
  const victim = join(scratch, 'victim')
  mkdirSync(victim)
  writeFileSync(join(victim, 'id_rsa'), 'secret')
  writeFileSync(join(victim, '7789.json'), JSON.stringify(DEAD))
  symlinkSync(victim, join(scratch, FOLDER))
  expect(registered(io)).toEqual([])
  expect(register(OWN, io)).toBeUndefined()
  expect(readdirSync(victim).sort()).toEqual(['7789.json', 'id_rsa'])
})

// promise: sandbox-link
test.each([
  ['a link to nowhere', (path: string) => symlinkSync(join(scratch, 'nowhere'), path)],
  ['a file', (path: string) => writeFileSync(path, '')],
])('%s in place of the registry folder does not stop a sandbox', (_what, put) => {
  put(join(scratch, FOLDER))
  expect(register(OWN, io)).toBeUndefined()
  expect(registered(io)).toEqual([])
})

// promise: sandbox-link
test('files in the registry folder that are not entries are left unchanged', () => {
  const folder = join(scratch, FOLDER)
  mkdirSync(folder, { mode: 0o700 })
  const kept = join(scratch, 'kept.json')
  writeFileSync(kept, JSON.stringify(DEAD))
  symlinkSync(kept, join(folder, '1.json'))
  mkdirSync(join(folder, '2.json'))
  writeFileSync(join(folder, '3.json'), '{"pid": 1}')
  writeFileSync(join(folder, 'id_rsa'), 'secret')
  expect(registered(io)).toEqual([])
  expect(readdirSync(folder).sort()).toEqual(['1.json', '2.json', '3.json', 'id_rsa'])
  expect(readFileSync(kept, 'utf8')).toBe(JSON.stringify(DEAD))
})
