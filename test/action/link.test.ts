/** Links to manifest lines. */
import { expect, test } from 'vitest'
import { readEvent } from '../../src/action/event.ts'
import { linkTo as linkOf } from '../../src/action/job.ts'

const env = {
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_SHA: '0123456',
  GITHUB_EVENT_NAME: 'push',
}
const linkTo = (file: string, prefix = ''): string | undefined =>
  linkOf({ env, event: readEvent(env), prefix }, file, 17)

// promise: encoded-links
test.each([
  ['espalier/a)(www.evil.com/please-approve/x.yaml', 'espalier/a%29%28www.evil.com/please-approve/x.yaml'],
  ["a)**SAFE-TO-MERGE**~~!'.yaml", 'a%29%2A%2ASAFE-TO-MERGE%2A%2A%7E%7E%21%27.yaml'],
  ['a b?c#d"<e>.yaml', 'a%20b%3Fc%23d%22%3Ce%3E.yaml'],
  ['./x/../y.yaml', 'y.yaml'],
])('the link to the file %s is encoded', (file, path) => {
  expect(linkTo(file)).toBe(`https://github.com/acme/shop/blob/0123456/${path}#L17`)
})

// promise: encoded-links
test('no link is created for a file outside the repository', () => {
  expect(linkTo('../../../../evil/x/blob/main/y.yaml', 'db/')).toBeUndefined()
  expect(linkTo('../y.yaml', 'db/')).toMatch(/0123456\/y\.yaml#L17$/)
})
