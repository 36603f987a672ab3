/** Runs the program in a folder that a commit disguises as a separate git repository. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forgetBlob, makeHostileRepository, makePartialClone, plantBareRepository } from '../hostile/repositories.ts'
import { espalier } from './espalier.ts'

const ENV = { ESPALIER_API_KEY: 'a-key', ESPALIER_BASE_URL: 'http://127.0.0.1:1' }

// promise: bare-repository
test.each([[['plan', '--base', 'HEAD']], [['drift']], [['init']]])(
  'a bare repository in a commit is not used by espalier %j',
  async (args) => {
    const repository = makeHostileRepository()
    plantBareRepository(repository, 'db')
    const { stdout, stderr } = await espalier(args, ENV, join(repository.folder, 'db'))
    expect(repository.isSprung()).toBe(false)
    if (args[0] === 'init') expect(stdout).toContain('workflows:')
    else expect(stderr).toContain('is itself a bare git repository, which is not used')
  },
)

// promise: partial-clone
test.each([[['plan', '--base', 'HEAD']], [['drift']]])(
  'espalier %j in a partial clone neither fetches missing files nor treats them as empty',
  async (args) => {
    const repository = makeHostileRepository()
    makePartialClone(repository)
    forgetBlob(repository, 'espalier.yaml')
    const { code, stderr } = await espalier(args, ENV, repository.folder)
    expect(code).toBe(1)
    expect(stderr).toContain('This is a partial clone without the files of')
    expect(repository.isSprung()).toBe(false)
  },
)
