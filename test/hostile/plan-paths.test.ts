/** A saved plan from someone else cannot choose which files are read. */
import { expect, test } from 'vitest'
import { manifestPaths } from '../../src/workflow/index.ts'

const CWD = '/home/me/repository'
const of = (manifests: readonly string[], path = 'plan.json', given: readonly string[] = []): readonly string[] =>
  manifestPaths({ file: { manifests: [...manifests] } as never, path }, given, CWD)

// promise: plan-paths
test.each([['/etc/passwd'], ['../other/espalier.yaml'], ['a/../../x.yaml'], ['..'], ['/home/me/repository-2/x.yaml']])(
  'the manifest path %s in a saved plan is rejected',
  (path) => {
    expect(() => of(['espalier.yaml', path])).toThrow(/which is in another folder/)
  },
)

test.each([['espalier.yaml'], ['a/b/*.yaml'], ['..a.yaml'], ['/home/me/repository/x.yaml'], ['a/../x.yaml']])(
  'the manifest path %s in a saved plan is accepted',
  (path) => {
    expect(of([path])).toEqual([path])
  },
)

test('manifests next to the saved plan, or named on the command line, are accepted in any folder', () => {
  expect(of(['/tmp/x/espalier.yaml'], '/tmp/x/plan.json')).toEqual(['/tmp/x/espalier.yaml'])
  expect(of(['/etc/passwd'], 'plan.json', ['/srv/mine.yaml'])).toEqual(['/srv/mine.yaml'])
})
