/** A saved plan that was handed over does not choose what is read. */
import { expect, test } from 'vitest'
import { manifestPaths } from '../../src/workflow/index.ts'

const CWD = '/home/me/repository'
const of = (manifests: readonly string[], path = 'plan.json', given: readonly string[] = []): readonly string[] =>
  manifestPaths({ file: { manifests: [...manifests] } as never, path }, given, CWD)

test.each([['/etc/passwd'], ['../other/espalier.yaml'], ['a/../../x.yaml'], ['..'], ['/home/me/repository-2/x.yaml']])(
  '%s is not read for it',
  (path) => {
    expect(() => of(['espalier.yaml', path])).toThrow(/which is in another folder/)
  },
)

test.each([['espalier.yaml'], ['a/b/*.yaml'], ['..a.yaml'], ['/home/me/repository/x.yaml'], ['a/../x.yaml']])(
  '%s is',
  (path) => {
    expect(of([path])).toEqual([path])
  },
)

test('files next to the plan are read, and those named on the command line', () => {
  expect(of(['/tmp/x/espalier.yaml'], '/tmp/x/plan.json')).toEqual(['/tmp/x/espalier.yaml'])
  expect(of(['/etc/passwd'], 'plan.json', ['/srv/mine.yaml'])).toEqual(['/srv/mine.yaml'])
})
