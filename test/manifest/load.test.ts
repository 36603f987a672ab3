import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type LoadedManifests, loadManifests } from '../../src/manifest/index.ts'

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

const load = (...paths: readonly string[]): Promise<LoadedManifests> => loadManifests(paths, join(root, 'tree'))

const codesOf = ({ diagnostics }: LoadedManifests) => diagnostics.map(({ code, source }) => [code, source?.file])

const branchesOf = ({ desired }: LoadedManifests) =>
  desired.documents.flatMap(({ branches }) => branches.map(({ ref }) => ref))

describe('a sandbox seed next to manifests', () => {
  const seed = 'projects:\n  - { id: p, branches: [{ name: a }] }\n'

  test('is ignored and listed in the result', async () => {
    await write({ 'tree/m.yaml': manifest('a') })
    const { texts } = await load('.')
    await write({ 'tree/seed.yaml': `# what to start from\n${seed}keys: []\n` })
    const loaded = await load('.')
    expect(codesOf(loaded)).toEqual([])
    expect(loaded).toMatchObject({ files: ['m.yaml'], seeds: ['seed.yaml'], texts })
  })

  test('is not counted as a manifest', async () => {
    await write({ 'tree/seed.yaml': seed })
    const { diagnostics } = await load('.')
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['E_NO_MANIFESTS', 'No manifest was found, only a sandbox seed: `seed.yaml`.'],
    ])
  })

  test.each([
    ['a manifest with `projects` instead of `project`', 'version: 1\nprojects:\n  - { id: p }\n'],
    ['a list of names', 'projects: [p, q]\n'],
    ['a map of projects', 'projects: { p: { id: p } }\n'],
    ['an empty list of projects', 'projects: []\n'],
    ['a seed with an unknown key', `${seed}branches: {}\n`],
    ['a seed followed by another document', `${seed}---\nversion: 1\nproject: p\nbranches: {}\n`],
    ['a seed with invalid YAML', `${seed}  - [\n`],
  ])('is not recognized in %s', async (_what, text) => {
    await write({ 'tree/m.yaml': manifest('a'), 'tree/odd.yaml': text })
    const loaded = await load('.')
    expect(loaded.seeds).toEqual([])
    expect(loaded.diagnostics.map(({ source }) => source?.file)).toContain('odd.yaml')
  })
})

describe('folders', () => {
  test('are searched for .yaml and .yml files, except hidden folders and node_modules', async () => {
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

  test('without a manifest are an error, so that an empty folder cannot delete everything', async () => {
    await write({ 'tree/readme.md': '' })
    const loaded = await load('.')
    expect(codesOf(loaded)).toEqual([['E_NO_MANIFESTS', undefined]])
    expect(loaded.desired.documents).toEqual([])
  })

  test('an empty list of paths is an error', async () => {
    expect(codesOf(await load())).toEqual([['E_NO_MANIFESTS', undefined]])
  })
})

describe('files and globs', () => {
  test('a named file is read once', async () => {
    await write({ 'tree/a.yml': manifest('a'), 'tree/b.yaml': manifest('b') })
    const loaded = await load('a.yml', 'b.yaml', './b.yaml', '*.yaml', join(root, 'tree/b.yaml'))
    expect(codesOf(loaded)).toEqual([])
    expect(loaded.files).toEqual(['a.yml', 'b.yaml'])
  })

  // hint: Rename it.
  test('only files with the name of a manifest are read, because no others are read from a commit', async () => {
    await write({ 'tree/a.txt': manifest('a'), 'tree/b.yaml': manifest('b') })
    expect((await load('a.txt')).diagnostics).toMatchObject([
      {
        code: 'E_NOT_FOUND',
        message: 'a.txt is not read. Its name does not end in .yaml or .yml.',
        hint: 'Rename it.',
      },
    ])
    expect((await load('*')).files).toEqual(['b.yaml'])
    await write({ 'tree/a.yaml': `extends: shared.conf\n${manifest('a')}`, 'tree/shared.conf': 'prune: false\n' })
    expect((await load('a.yaml')).diagnostics).toMatchObject([
      { message: expect.stringContaining('Its name does not end in .yaml or .yml.'), hint: 'Rename it.' },
    ])
    await write({ 'tree/a.yaml': `extends: shared.yaml\n${manifest('a')}`, 'tree/shared.yaml': 'prune: false\n' })
    expect(codesOf(await load('a.yaml'))).toEqual([])
  })

  test('a glob selects the files that it matches', async () => {
    await write({
      'tree/projects/a.yaml': manifest('a'),
      'tree/projects/b.yml': manifest('b'),
      'tree/projects/in/c.yaml': manifest('c'),
    })
    expect((await load('projects/*.yaml')).files).toEqual(['projects/a.yaml'])
    expect((await load('projects/**/*.yaml')).files).toEqual(['projects/a.yaml', 'projects/in/c.yaml'])
    expect((await load('**/*.{yaml,yml}')).files).toEqual(['projects/a.yaml', 'projects/b.yml', 'projects/in/c.yaml'])
  })

  test('a path that exists is read as a file even if it looks like a glob', async () => {
    await write({ 'tree/[a].yaml': manifest('a'), 'tree/a.yaml': manifest('b') })
    expect((await load('[a].yaml')).files).toEqual(['[a].yaml'])
  })

  test('each path that matches no file is reported, and the other paths are read', async () => {
    await write({ 'tree/a.yaml': manifest('a') })
    const loaded = await load('gone.yaml', 'a.yaml', 'gone/*.yaml')
    expect(loaded.diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['E_NOT_FOUND', 'The file or folder gone.yaml does not exist.'],
      ['E_NOT_FOUND', 'The glob gone/*.yaml matches no .yaml or .yml file.'],
    ])
    expect(branchesOf(loaded)).toEqual(['a'])
  })

  test('problems in several files are sorted by file', async () => {
    await write({ 'tree/b.yaml': 'a: [', 'tree/a.yaml': 'version: 1\n\nproject: P\n', 'tree/c.yaml': '' })
    const { diagnostics } = await load('c.yaml', 'b.yaml', 'a.yaml')
    expect(diagnostics.map(({ code, source }) => [code, source?.file, source?.line])).toEqual([
      ['E_VALUE', 'a.yaml', 3],
      ['E_YAML', 'b.yaml', 1],
      ['E_EMPTY', 'c.yaml', 1],
    ])
  })
})

describe('file contents', () => {
  test('a file that is not UTF-8 is reported, and other files are read', async () => {
    await write({ 'tree/a.yaml': Uint8Array.of(0x70, 0x3a, 0x20, 0xff, 0xfe), 'tree/b.yaml': manifest('b') })
    const loaded = await load('.')
    expect(codesOf(loaded)).toEqual([['E_YAML', 'a.yaml']])
    expect(branchesOf(loaded)).toEqual(['b'])
  })

  test('a byte order mark is ignored', async () => {
    await write({ 'tree/a.yaml': `\ufeff${manifest('a')}` })
    const loaded = await load('a.yaml')
    expect(codesOf(loaded)).toEqual([])
    expect(loaded.desired.documents[0]?.source).toMatchObject({ line: 2, column: 10 })
  })

  test('a file larger than 32 MiB is not read', async () => {
    await write({ 'tree/a.yaml': new Uint8Array(32 * 1024 * 1024 + 1).fill(0x23) })
    expect(codesOf(await load('a.yaml'))).toEqual([['E_TOO_LARGE', 'a.yaml']])
  })

  test('shared files count towards the 64 MiB of all files', async () => {
    const shared = Buffer.concat([Buffer.from('prune: false\n'), Buffer.alloc(22 * 1024 * 1024, '#')])
    await write({
      'tree/a.yaml': `${manifest('a')}extends: [one.yaml, two.yaml, three.yaml]\n`,
      'tree/one.yaml': shared,
      'tree/two.yaml': shared,
      'tree/three.yaml': shared,
    })
    const { diagnostics } = await load('a.yaml')
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['E_EXTENDS', expect.stringMatching(/three\.yaml.* exceed 64 MiB/)],
    ])
  })
})

describe('symbolic links', () => {
  // promise: link-out-of-folder
  test('a link that leads out of the tree is not followed', async () => {
    await write({ 'secret.yaml': 'token: hunter2\n', 'tree/a.yaml': manifest('a') })
    await symlink(join(root, 'secret.yaml'), join(root, 'tree/link.yaml'))
    const named = await load('link.yaml')
    expect(codesOf(named)).toEqual([['E_OUTSIDE', 'link.yaml']])
    for (const loaded of [named, await load('.'), await load('*.yaml')]) {
      expect(loaded.files).not.toContain('link.yaml')
      expect(JSON.stringify(loaded)).not.toContain('hunter2')
    }
  })

  // hint: Replace the link with a copy of the file.
  test.each([
    ['a manifest', 'link.yaml', manifest('a')],
    ['a shared file', 'm.yaml', 'defaults: { size: 2 }\n'],
  ])('a copy of %s in place of such a link is read', async (_what, path, text) => {
    await write({ 'outside.yaml': text, 'tree/m.yaml': `${manifest('a')}extends: link.yaml\n` })
    const link = join(root, 'tree/link.yaml')
    await symlink(join(root, 'outside.yaml'), link)
    expect((await load(path)).diagnostics).toMatchObject([{ hint: 'Replace the link with a copy of the file.' }])
    await rm(link)
    await copyFile(join(root, 'outside.yaml'), link)
    const copied = await load(path)
    expect(copied.diagnostics).toEqual([])
    expect(branchesOf(copied)).toEqual(['a'])
  })

  test('a linked folder is not searched', async () => {
    await write({ 'other/secret.yaml': 'token: hunter2\n', 'tree/a.yaml': manifest('a') })
    await symlink(join(root, 'other'), join(root, 'tree/link'))
    expect((await load('.')).files).toEqual(['a.yaml'])
  })

  // promise: link-out-of-folder
  test('a named file below a linked folder is not read', async () => {
    await write({ 'other/secret.yaml': 'token: hunter2\n', 'tree/a.yaml': manifest('a') })
    await symlink(join(root, 'other'), join(root, 'tree/link'))
    for (const path of ['link/secret.yaml', 'link', 'link/*.yaml']) {
      const loaded = await load(path)
      expect(JSON.stringify(loaded), path).not.toContain('hunter2')
      expect(loaded.diagnostics.length, path).toBeGreaterThan(0)
      expect(loaded.files, path).toEqual([])
    }
  })

  test('a link that stays inside the tree is followed', async () => {
    await write({ 'tree/real/a.txt': manifest('a') })
    await symlink(join(root, 'tree/real/a.txt'), join(root, 'tree/a.yaml'))
    expect(branchesOf(await load('a.yaml'))).toEqual(['a'])
  })

  test('a tree that is itself a link is read', async () => {
    await write({ 'tree/a.yaml': manifest('a') })
    await symlink(join(root, 'tree'), join(root, 'alias'))
    const loaded = await loadManifests(['.', 'a.yaml'], join(root, 'alias'))
    expect([codesOf(loaded), loaded.files]).toEqual([[], ['a.yaml']])
  })

  test('a path that starts with ../ is read', async () => {
    await write({ 'other/a.yaml': manifest('a'), 'tree/b.yaml': manifest('b') })
    expect((await load('../other/a.yaml')).files).toEqual(['../other/a.yaml'])
  })
})

describe('extends', () => {
  const extending = (path: string): string =>
    `version: 1\nproject: p\nextends: ${path}\nbranches: { m: { primary: {} } }\n`

  test('reads the shared file, even though it was not named, and lists it as read', async () => {
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

  // promise: dotted-names
  test('reads a shared file in a mounted Kubernetes ConfigMap, whose links go through ..data', async () => {
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

  test('reports a problem once when the folder also contains the shared file', async () => {
    await write({
      'tree/a.yaml': extending('s.yaml'),
      'tree/b.yaml': extending('s.yaml').replace('m:', 'n:'),
      'tree/s.yaml': 'defaults: { size: 3.5 }\n',
    })
    expect(codesOf(await load('.'))).toEqual([['E_SIZE', 's.yaml']])
  })

  test.each([
    ['a file outside the tree', '../outside.yaml'],
    ['a path that leaves the tree and comes back', '../tree/../outside.yaml'],
    ['a link that leads out of the tree', 'link.yaml'],
  ])('rejects %s', async (_name, path) => {
    await write({ 'tree/a.yaml': extending(path), 'outside.yaml': 'defaults: { size: 2 }\n' })
    await symlink(join(root, 'outside.yaml'), join(root, 'tree/link.yaml'))
    const loaded = await load('a.yaml')
    expect(codesOf(loaded)).toEqual([['E_EXTENDS', 'a.yaml']])
    expect(loaded.files).toEqual(['a.yaml'])
  })

  const SHARED = 'defaults: { size: 2 }\n'
  const SPLIT = { 's.yaml': SHARED, 't.yaml': 'prune: true\n' }
  const extendingBoth = extending('[s.yaml, t.yaml]')

  // hint: Name the files in it; `extends` accepts a list.
  // hint: Save it as UTF-8.
  // hint: Split it into several shared files: `extends` accepts a list.
  // hint: Split it into several files, and extend those.
  test.each<readonly [string, Record<string, string | Buffer>, string, string, Record<string, string>]>([
    ['is missing', {}, 'The file does not exist.', 'Paths in `extends` are relative to this file.', SPLIT],
    [
      'is a folder',
      { 's.yaml/t.yaml': SHARED },
      'It is not a file.',
      'Name the files in it; `extends` accepts a list.',
      { 'a.yaml': extending('[s.yaml/t.yaml]') },
    ],
    ['is not UTF-8', { 's.yaml': Buffer.from([0xff]) }, 'The file is not UTF-8.', 'Save it as UTF-8.', SPLIT],
    [
      'is too large',
      { 's.yaml': Buffer.alloc(32 * 1024 * 1024 + 1) },
      'The file is larger than 32 MiB.',
      'Split it into several shared files: `extends` accepts a list.',
      { 'a.yaml': extendingBoth, ...SPLIT },
    ],
    [
      'has two documents',
      { 's.yaml': `${SHARED}---\n${SHARED}` },
      'A shared file must have exactly one document.',
      'Split it into several files, and extend those.',
      { 'a.yaml': extendingBoth, ...SPLIT },
    ],
  ])(
    'the message says why a shared file that %s cannot be used, and what to do',
    async (_case, files, why, hint, fixed) => {
      const save = (saved: Record<string, string | Buffer>) =>
        write(Object.fromEntries(Object.entries(saved).map(([path, content]) => [`tree/${path}`, content])))
      await save({ 'a.yaml': extending('s.yaml'), ...files })
      expect((await load('a.yaml')).diagnostics).toMatchObject([{ message: expect.stringContaining(why), hint }])
      await save(fixed)
      expect((await load('a.yaml')).diagnostics).toEqual([])
    },
  )
})
