/** A fork commits a git repository into the folder where the Action runs. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runAction } from '../action/run-action.ts'
import { makeHostileRepository, plantBareRepository } from './repositories.ts'

// promise: bare-repository
test.each(['pull_request', 'pull_request_target', 'push'])(
  'on %s, a bare repository in a commit cannot run code',
  async (name) => {
    const repository = makeHostileRepository()
    plantBareRepository(repository, 'db')
    const { code, log } = await runAction({
      repository: { ...repository, commit: () => '' },
      sha: repository.head,
      inputs: { command: 'plan', 'api-key': 'a-key', 'base-url': 'http://127.0.0.1:1', 'working-directory': 'db' },
      event: {
        name,
        payload: {
          pull_request: {
            number: 7,
            base: { sha: repository.head, repo: { full_name: 'acme/shop' } },
            head: { sha: '4'.repeat(40), repo: { full_name: 'stranger/shop' } },
          },
        },
      },
    })
    expect(repository.isSprung()).toBe(false)
    expect(code, log).toBe(1)
    if (name !== 'push') expect(log).toContain(`${join(repository.folder, 'db')} is itself a bare git repository`)
  },
)
