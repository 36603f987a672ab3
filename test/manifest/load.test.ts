import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type LoadedManifests, loadManifests, readSizeTable } from '../../src/manifest/index.ts'

let root = ''
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'espalier-load-')))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const manifest = (branch: string): string => `version: 1\nproject: p\nbranches: { ${branch}: {} }\n`

const write = async (files: Readonly<Record<string, string | Uint8Array>>): Promise<void> => {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

const load = (...paths: readonly string[]): Promise<LoadedManifests> =>
  loadManifests(paths, { cwd: join(root, 'tree') })

const codesOf = ({ diagnostics }: LoadedManifests) => diagnostics.map(({ code, source }) => [code, source?.file])

const branchesOf = ({ desired }: LoadedManifests) =>
  desired.documents.flatMap(({ branches }) => branches.map(({ ref }) => ref))

describe('a sandbox seed next to manifests', () => {
  const seed = 'projects:\n  - { id: p, branches: [{ name: a }] }\n'

  test('is left out and named; the manifests are as without it', async () => {
    await write({ 'tree/m.yaml': manifest('a') })
    const { texts } = await load('.')
    await write({ 'tree/seed.yaml': `# what to start from\n${seed}keys: []\n` })
    const loaded = await load('.')
    expect(codesOf(loaded)).toEqual([])
    expect(loaded).toMatchObject({ files: ['m.yaml'], seeds: ['seed.yaml'], texts })
  })

  test('is not a manifest by itself', async () => {
    await write({ 'tree/seed.yaml': seed })
    const { diagnostics } = await load('.')
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['E_NO_MANIFESTS', 'There is no manifest here, only a sandbox seed: `seed.yaml`.'],
    ])
  })

  test.each([
    ['a manifest that says projects for project', 'version: 1\nprojects:\n  - { id: p }\n'],
    ['a list of names', 'projects: [p, q]\n'],
    ['projects that are a map', 'projects: { p: { id: p } }\n'],
    ['an empty list', 'projects: []\n'],
    ['a seed with a key that no seed has', `${seed}branches: {}\n`],
    ['a seed with a document after it', `${seed}---\nversion: 1\nproject: p\nbranches: {}\n`],
    ['a seed that is not YAML', `${seed}  - [\n`],
  ])('is not taken for one: %s', async (_what, text) => {
    await write({ 'tree/m.yaml': manifest('a'), 'tree/odd.yaml': text })
    const loaded = await load('.')
    expect(loaded.seeds).toEqual([])
    expect(loaded.diagnostics.map(({ source }) => source?.file)).toContain('odd.yaml')
  })
})

describe('folders', () => {
  test('are walked for .yaml and .yml; hidden ones, node_modules and other files are left out', async () => {
    await write({
      'tree/a.yaml': manifest('a'),
      'tree/b.yml': manifest('b'),
      'tree/deep/er/c.yaml': manifest('c'),
      'tree/.hidden/d.yaml': manifest('d'),
      'tree/.e.yaml': manifest('e'),
      'tree/node_modules/x/f.yaml': manifest('f'),
      'tree/deep/node_modules/g.yaml': manifest('g'),
      'tree/h.json': '{}',
      'tree/i.yaml.bak': 'not: [',
    })
    const loaded = await load('.')
    expect(codesOf(loaded)).toEqual([])
    expect(loaded.files).toEqual(['a.yaml', 'b.yml', 'deep/er/c.yaml'])
    expect(branchesOf(loaded)).toEqual(['a', 'b', 'c'])
  })

  test('without a manifest are a problem, since empty never means "delete everything"', async () => {
    await write({ 'tree/readme.md': '' })
    const loaded = await load('.')
    expect(codesOf(loaded)).toEqual([['E_NO_MANIFESTS', undefined]])
    expect(loaded.desired.documents).toEqual([])
  })

  test('no path at all is that problem too', async () => {
    expect(codesOf(await load())).toEqual([['E_NO_MANIFESTS', undefined]])
  })
})

describe('files and globs', () => {
  test('a file is read whatever it is called, and once however often it is named', async () => {
    await write({ 'tree/manifest.txt': manifest('a'), 'tree/b.yaml': manifest('b') })
    const loaded = await load('manifest.txt', 'b.yaml', './b.yaml', '*.yaml', join(root, 'tree/b.yaml'))
    expect(codesOf(loaded)).toEqual([])
    expect(loaded.files).toEqual(['b.yaml', 'manifest.txt'])
  })

  test('a glob reads the files that it matches', async () => {
    await write({
      'tree/projects/a.yaml': manifest('a'),
      'tree/projects/b.yml': manifest('b'),
      'tree/projects/in/c.yaml': manifest('c'),
    })
    expect((await load('projects/*.yaml')).files).toEqual(['projects/a.yaml'])
    expect((await load('projects/**/*.yaml')).files).toEqual(['projects/a.yaml', 'projects/in/c.yaml'])
    expect((await load('**/*.{yaml,yml}')).files).toEqual(['projects/a.yaml', 'projects/b.yml', 'projects/in/c.yaml'])
  })

  test('a file whose name looks like a glob is that file', async () => {
    await write({ 'tree/[a].yaml': manifest('a'), 'tree/a.yaml': manifest('b') })
    expect((await load('[a].yaml')).files).toEqual(['[a].yaml'])
  })

  test('each path that matches nothing is reported, and the rest is read', async () => {
    await write({ 'tree/a.yaml': manifest('a') })
    const loaded = await load('gone.yaml', 'a.yaml', 'gone/*.yaml')
    expect(loaded.diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['E_NOT_FOUND', 'The glob gone/*.yaml matches no file.'],
      ['E_NOT_FOUND', 'There is no file or folder gone.yaml.'],
    ])
    expect(branchesOf(loaded)).toEqual(['a'])
  })

  test('problems of several files come in the order of files', async () => {
    await write({ 'tree/b.yaml': 'a: [', 'tree/a.yaml': 'version: 1\n\nproject: P\n', 'tree/c.yaml': '' })
    const { diagnostics } = await load('c.yaml', 'b.yaml', 'a.yaml')
    expect(diagnostics.map(({ code, source }) => [code, source?.file, source?.line])).toEqual([
      ['E_VALUE', 'a.yaml', 3],
      ['E_YAML', 'b.yaml', 1],
      ['E_EMPTY', 'c.yaml', 1],
    ])
  })
})

describe('contents of a file', () => {
  test('bytes that are not UTF-8 are a problem of that file alone', async () => {
    await write({ 'tree/a.yaml': Uint8Array.of(0x70, 0x3a, 0x20, 0xff, 0xfe), 'tree/b.yaml': manifest('b') })
    const loaded = await load('.')
    expect(codesOf(loaded)).toEqual([['E_ENCODING', 'a.yaml']])
    expect(branchesOf(loaded)).toEqual(['b'])
  })

  test('a byte order mark is not part of the text', async () => {
    await write({ 'tree/a.yaml': `\ufeff${manifest('a')}` })
    const loaded = await load('a.yaml')
    expect(codesOf(loaded)).toEqual([])
    expect(loaded.desired.documents[0]?.source).toMatchObject({ line: 2, column: 10 })
  })

  test('above 32 MiB it is not read', async () => {
    await write({ 'tree/a.yaml': new Uint8Array(32 * 1024 * 1024 + 1).fill(0x23) })
    expect(codesOf(await load('a.yaml'))).toEqual([['E_TOO_LARGE', 'a.yaml']])
  })
})

describe('links', () => {
  test('one that leads out of the tree is not followed', async () => {
    await write({ 'secret.yaml': 'token: hunter2\n', 'tree/a.yaml': manifest('a') })
    await symlink(join(root, 'secret.yaml'), join(root, 'tree/link.yaml'))
    const named = await load('link.yaml')
    expect(codesOf(named)).toEqual([['E_OUTSIDE', 'link.yaml']])
    for (const loaded of [named, await load('.'), await load('*.yaml')]) {
      expect(loaded.files).not.toContain('link.yaml')
      expect(JSON.stringify(loaded)).not.toContain('hunter2')
    }
  })

  test('nor is a folder that one leads to walked', async () => {
    await write({ 'other/secret.yaml': 'token: hunter2\n', 'tree/a.yaml': manifest('a') })
    await symlink(join(root, 'other'), join(root, 'tree/link'))
    expect((await load('.')).files).toEqual(['a.yaml'])
  })

  test('nor a file below a linked folder, when it is named', async () => {
    await write({ 'other/secret.yaml': 'token: hunter2\n', 'tree/a.yaml': manifest('a') })
    await symlink(join(root, 'other'), join(root, 'tree/link'))
    for (const path of ['link/secret.yaml', 'link', 'link/*.yaml']) {
      const loaded = await load(path)
      expect(JSON.stringify(loaded), path).not.toContain('hunter2')
      expect(loaded.diagnostics.length, path).toBeGreaterThan(0)
      expect(loaded.files, path).toEqual([])
    }
  })

  test('one that stays inside the tree is followed', async () => {
    await write({ 'tree/real/a.txt': manifest('a') })
    await symlink(join(root, 'tree/real/a.txt'), join(root, 'tree/a.yaml'))
    expect(branchesOf(await load('a.yaml'))).toEqual(['a'])
  })

  test('a tree that is itself reached by a link is a tree', async () => {
    await write({ 'tree/a.yaml': manifest('a') })
    await symlink(join(root, 'tree'), join(root, 'alias'))
    const loaded = await loadManifests(['.', 'a.yaml'], { cwd: join(root, 'alias') })
    expect([codesOf(loaded), loaded.files]).toEqual([[], ['a.yaml']])
  })

  test('a path that says openly that it leads out is read', async () => {
    await write({ 'other/a.yaml': manifest('a'), 'tree/b.yaml': manifest('b') })
    expect((await load('../other/a.yaml')).files).toEqual(['../other/a.yaml'])
  })
})

describe('extends', () => {
  const extending = (path: string): string =>
    `version: 1\nproject: p\nextends: ${path}\nbranches: { m: { primary: {} } }\n`

  test('is found in the file system without being named, and counts as read', async () => {
    await write({
      'tree/projects/a.yaml': extending('../shared/s.yaml'),
      'tree/shared/s.yaml': 'defaults: { size: 2 }\n',
    })
    const loaded = await load('projects')
    expect(codesOf(loaded)).toEqual([])
    expect(loaded.files).toEqual(['projects/a.yaml', 'shared/s.yaml'])
    expect(loaded.desired.documents[0]?.branches[0]?.primary).toMatchObject({
      attributes: { size: { min: 2, max: 2 } },
      sources: { size: { file: 'shared/s.yaml', line: 1 } },
    })
  })

  test('in a mounted Kubernetes ConfigMap, with its links through ..data', async () => {
    await write({
      'tree/..2026_11_21/a.yaml': extending('shared.yaml'),
      'tree/..2026_11_21/shared.yaml': 'defaults: { size: 2 }\n',
    })
    await symlink('..2026_11_21', join(root, 'tree/..data'))
    await symlink('..data/a.yaml', join(root, 'tree/a.yaml'))
    await symlink('..data/shared.yaml', join(root, 'tree/shared.yaml'))
    const loaded = await load('a.yaml')
    expect(codesOf(loaded)).toEqual([])
    expect(loaded.files).toEqual(['a.yaml', 'shared.yaml'])
  })

  test('in a folder that also holds the shared file, nothing is reported twice', async () => {
    await write({
      'tree/a.yaml': extending('s.yaml'),
      'tree/b.yaml': extending('s.yaml').replace('m:', 'n:'),
      'tree/s.yaml': 'defaults: { size: 3.5 }\n',
    })
    expect(codesOf(await load('.'))).toEqual([['E_SIZE_STEP', 's.yaml']])
  })

  test.each([
    ['a file that is not there', 'gone.yaml'],
    ['a folder', 'deep'],
    ['a file outside', '../outside.yaml'],
    ['a way out and in again', '../tree/../outside.yaml'],
    ['a link that leads out', 'link.yaml'],
  ])('%s cannot be extended', async (_name, path) => {
    await write({ 'tree/a.yaml': extending(path), 'tree/deep/x.txt': '', 'outside.yaml': 'defaults: { size: 2 }\n' })
    await symlink(join(root, 'outside.yaml'), join(root, 'tree/link.yaml'))
    const loaded = await load('a.yaml')
    expect(codesOf(loaded)).toEqual([['E_EXTENDS', 'a.yaml']])
    expect(loaded.files).toEqual(['a.yaml'])
  })
})

describe('a table of sizes from a file', () => {
  const table = async (text: string) => {
    await write({ 'sizes.json': text })
    return readSizeTable(join(root, 'sizes.json'))
  }

  test('is sorted, and takes the limits that it leaves out from the built-in one', async () => {
    const steps = [
      { cu: 60, maxConnections: 4000 },
      { cu: 2, maxConnections: 800 },
    ]
    expect(await table(JSON.stringify({ version: '2027-01', steps, maxSpreadCu: 12 }))).toEqual({
      version: '2027-01',
      steps: [
        { cu: 2, maxConnections: 800, ramGb: 8, cacheGb: 6 },
        { cu: 60, maxConnections: 4000, ramGb: 240, cacheGb: 180 },
      ],
      autoscalingMaxCu: 16,
      maxSpreadCu: 12,
      scaleToZeroMaxCu: 16,
    })
  })

  test.each(['', '[', 'null', '{}', '{"steps":[]}', '{"steps":[{"cu":0,"maxConnections":1}]}', '{"steps":[null]}'])(
    'is refused where it is %j',
    async (text) => {
      await expect(table(text)).rejects.toMatchObject({ code: 'E_SIZE_TABLE' })
    },
  )

  test('is refused if it does not exist', async () => {
    await expect(readSizeTable(join(root, 'gone.json'))).rejects.toMatchObject({ code: 'E_SIZE_TABLE' })
  })
})
