/** The workflows that `init` writes. They are the examples, adapted to the repository and to this release. */
import { applyEdits, getNodeValue, modify, type ParseError, parseTree } from 'jsonc-parser'
import { git, isRecord, REPOSITORY } from '../../base/index.ts'
import { RELEASE_COMMIT } from '../../base/version.ts'
import files from './generated/workflows.json' with { type: 'json' }

const { policy, ...workflows } = files

/** A policy file with limits on what the workflows apply. */
export const POLICY_EXAMPLE = policy

/** @returns the contents of the workflow files, by name. */
export const workflowsFor = async (
  cwd: string,
  commit: string | undefined = RELEASE_COMMIT,
): Promise<Readonly<Record<string, string>>> => {
  const branch = await defaultBranch(cwd)
  const fill = (text: string): string => onBranch(pinned(text, commit), branch)
  return Object.fromEntries(Object.entries(workflows).map(([name, text]) => [name, fill(text)]))
}

/** Pins the Action to a commit if this is known, because a tag can be moved. */
const pinned = (text: string, commit: string | undefined): string =>
  commit === undefined ? text : text.replaceAll(new RegExp(`(${REPOSITORY}@)(v\\S+)`, 'g'), `$1${commit} # $2`)

/** Replaces `main` in the examples by the default branch of the repository. */
const onBranch = (text: string, branch: string): string =>
  branch === 'main' ? text : text.replaceAll('branches: [main]', () => `branches: [${JSON.stringify(branch)}]`)

/** The default branch of the remote, or the current branch if the remote's default branch is not known. */
const defaultBranch = async (cwd: string): Promise<string> => {
  const remote = await askGit(cwd, 'symbolic-ref', '--short', 'refs/remotes/origin/HEAD')
  return remote?.replace(/^origin\//, '') || (await askGit(cwd, 'symbolic-ref', '--short', 'HEAD')) || 'main'
}

/** What git prints, or `undefined` if it fails. */
export const askGit = (cwd: string, ...args: readonly string[]): Promise<string | undefined> =>
  git(cwd, args).then(
    (answer) => answer.toString().trim(),
    () => undefined,
  )

// Edits the settings of VS Code and compatible editors, so that they complete and check manifests during typing.

export const SCHEMA_FILE = '.vscode/espalier.schema.json'

const MANIFESTS = ['espalier.yaml', 'espalier.yml', 'espalier/**/*.yaml', 'espalier/**/*.yml']
const EXTENSION = 'redhat.vscode-yaml'
const FORMAT = { tabSize: 2, insertSpaces: true, eol: '\n' }

/** The new text of a file, or the reason why the file is left unchanged. */
type Edited = { readonly text: string } | { readonly why: string }

export const withSchema = (settings: string): Edited =>
  edited(settings, (root) => {
    const schemas = root['yaml.schemas'] ?? {}
    if (!isRecord(schemas)) return { why: '`yaml.schemas` is not an object' }
    const key = `./${SCHEMA_FILE}`
    return key in schemas ? undefined : { path: ['yaml.schemas', key], value: MANIFESTS }
  })

export const withExtension = (extensions: string): Edited =>
  edited(extensions, ({ recommendations = [] }) => {
    if (!Array.isArray(recommendations)) return { why: '`recommendations` is not a list' }
    if (recommendations.includes(EXTENSION)) return undefined
    return { path: ['recommendations'], value: [...recommendations, EXTENSION] }
  })

type Insertion = { readonly path: string[]; readonly value: unknown } | { readonly why: string } | undefined

const edited = (text: string, insertionFor: (root: Readonly<Record<string, unknown>>) => Insertion): Edited => {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  if (errors.length > 0) return { why: 'it is not JSON' }
  // The file is empty or contains only comments.
  const start = tree === undefined ? `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}{}\n` : text
  const root: unknown = tree === undefined ? {} : getNodeValue(tree)
  if (!isRecord(root)) return { why: 'it is not a JSON object' }
  const wanted = insertionFor(root)
  if (wanted === undefined) return { text }
  if ('why' in wanted) return wanted
  return { text: applyEdits(start, modify(start, wanted.path, wanted.value, { formattingOptions: FORMAT })) }
}
