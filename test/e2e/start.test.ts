import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { espalierAsProcess, ROOT } from './espalier.ts'

/** Said twice, it is laid out anew. */
test('the help that the build kept is the one that the program lays out', async () => {
  const kept = await espalierAsProcess(['--help'])
  expect(kept.code).toBe(0)
  expect(kept.stdout).toBe((await espalierAsProcess(['--help', '--help'])).stdout)
})

test('no module of a library is read from node_modules, but what real computes need', async () => {
  const { dependencies } = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')) as { dependencies: object }
  expect(Object.keys(dependencies).sort()).toEqual(['pg'])
  const { stderr, code } = await espalierAsProcess(['validate', 'examples/quickstart/espalier.yaml'], {
    NODE_DEBUG: 'esm',
  })
  expect(code).toBe(0)
  expect(stderr).toContain('dist/main.js')
  expect(stderr).not.toContain('node_modules')
})

test.each([
  ['examples/quickstart/espalier.yaml'],
  ['examples/fleet/projects'],
  ['nowhere.yaml'],
  ['package.json'],
  ['examples/*/espalier.yaml', 'examples/fleet'],
])('validate %s says the same with and without a flag', async (...paths) => {
  const plain = await espalierAsProcess(['validate', ...paths])
  expect(plain.stdout + plain.stderr).not.toBe('')
  expect(await espalierAsProcess(['validate', ...paths, '--format', 'terminal'])).toEqual(plain)
})
