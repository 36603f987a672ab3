import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createReadApi } from '../../api/index.ts'
import { replaceFile } from '../../base/index.ts'
import { manifestSchema } from '../../manifest/index.ts'
import { EspalierError, EXIT, type ExitCode, SIZE_TABLE } from '../../model/index.ts'
import { counted, plainText } from '../../report/index.ts'
import { DEFAULT_PATHS, git } from '../../workflow/index.ts'
import { askLine } from '../ask.ts'
import { type ApiFlags, connect } from '../connect.ts'
import { usageError } from '../flags.ts'
import { importedManifest } from '../imported-manifest.ts'
import { chooseProject } from '../init/choose-project.ts'
import { SCHEMA_FILE, withExtension, withSchema } from '../init/editor-settings.ts'
import workflows from '../init/generated/workflows.json' with { type: 'json' }
import { starter } from '../init/starter.ts'
import { hasKey } from '../key.ts'
import { canAsk, print } from '../terminal.ts'

export interface InitFlags extends ApiFlags {
  readonly project?: string | undefined
  readonly noEditor?: boolean | undefined
  readonly noWorkflows?: boolean | undefined
}

const MANIFEST = 'espalier.yaml'
const PUBLIC_SCHEMA = 'https://espalier.dev/schemas/manifest.schema.json'

export const runInit = async (flags: InitFlags): Promise<ExitCode> => {
  const hasManifest = await writeManifest(flags)
  if (flags.noEditor !== true) await writeEditorSettings()
  const hasWorkflows = flags.noWorkflows !== true && (await writeWorkflows())
  for (const line of nextSteps(hasManifest, hasWorkflows)) print(line)
  return EXIT.ok
}

/** @returns whether it says what is live. */
const writeManifest = async (flags: InitFlags): Promise<boolean> => {
  const present = DEFAULT_PATHS.find((path) => existsSync(path))
  if (present !== undefined) {
    tell('there already', `${present}: \`espalier import --project ID --out FILE\` adds what is live to a manifest`)
    return true
  }
  const schema = flags.noEditor === true ? PUBLIC_SCHEMA : SCHEMA_FILE
  if (!hasKey(flags)) {
    await replaceFile(MANIFEST, starter(await projectWithoutKey(flags), schema), 'The manifest')
    tell('written', `${MANIFEST}, to be filled in: without a key nothing is known of the project`)
    return false
  }
  const connection = await connect(flags)
  const api = createReadApi(connection.options)
  try {
    const project = flags.project ?? (await chooseProject(api))
    const { text, computes, leftOut } = await importedManifest(api, project, { pin: false, schema })
    await replaceFile(MANIFEST, computes === 0 ? starter(project, schema) : text, 'The manifest')
    const known =
      computes === 0 ? 'the project has no compute yet' : `${counted(computes, 'compute')}, and its plan is empty`
    tell('written', `${MANIFEST}: ${known}`)
    for (const line of leftOut) tell('left out', line)
    return computes > 0
  } finally {
    await api.close()
    await connection.close()
  }
}

const projectWithoutKey = async ({ project }: InitFlags): Promise<string> => {
  const id = project ?? (canAsk() ? await askLine('Project id (the console shows it under Settings): ') : undefined)
  if (id !== undefined && /^[a-z0-9-]{1,60}$/.test(id)) return id
  if (id !== undefined)
    throw usageError(`${JSON.stringify(id)} is no project id.`, 'It has lower-case letters, digits and hyphens.')
  throw new EspalierError('E_USAGE', 'Without a key and without a project id there is nothing to start from.', {
    hint: 'Set ESPALIER_API_KEY, or name the project: `espalier init --project ID`. To try it without an account: --sandbox.',
  })
}

const writeEditorSettings = async (): Promise<void> => {
  await writeNew(SCHEMA_FILE, `${JSON.stringify(manifestSchema(SIZE_TABLE), null, 2)}\n`)
  for (const [file, edit] of [
    ['.vscode/settings.json', withSchema],
    ['.vscode/extensions.json', withExtension],
  ] as const) {
    const before = await textOf(file)
    const after = edit(before ?? '')
    if ('why' in after) tell('left alone', `${file}: ${after.why}`)
    else if (after.text === before) tell('there already', file)
    else await write(file, after.text, before === undefined ? 'written' : 'added to')
  }
}

/** @returns whether they are there now. */
const writeWorkflows = async (): Promise<boolean> => {
  const why = await noWorkflows()
  if (why !== undefined) {
    tell('left out', `workflows: ${why}`)
    return false
  }
  for (const [name, text] of Object.entries(workflows)) await writeNew(`.github/workflows/espalier-${name}.yml`, text)
  return true
}

const noWorkflows = async (): Promise<string | undefined> => {
  const ask = async (...args: readonly string[]): Promise<string | undefined> =>
    git(process.cwd(), args).then(
      (answer) => answer.toString().trim(),
      () => undefined,
    )
  const below = await ask('rev-parse', '--show-prefix')
  if (below === undefined) return 'this is no git repository'
  if (below !== '') return 'they belong into the root of the repository: run `espalier init` there'
  const remotes = (await ask('remote', '-v')) ?? ''
  return remotes === '' || remotes.includes('github') ? undefined : 'no remote of this repository is on GitHub'
}

const writeNew = async (file: string, text: string): Promise<void> => {
  if ((await textOf(file)) !== undefined) tell('there already', file)
  else await write(file, text, 'written')
}

const write = async (file: string, text: string, how: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_OUT', `${dirname(file)} cannot be made (${cause.code ?? cause.message}).`, { cause })
  })
  await replaceFile(file, text, 'It')
  tell(how, file)
}

const textOf = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw new EspalierError('E_OUT', `${file} is there and cannot be read (${cause.code ?? cause.message}).`, { cause })
  })

const tell = (how: string, what: string): void => print(`${how.padEnd(14)} ${plainText(what)}`)

const nextSteps = (hasManifest: boolean, hasWorkflows: boolean): readonly string[] => {
  const steps = [
    ...(hasManifest
      ? []
      : [`fill in ${MANIFEST}, or set ESPALIER_API_KEY and run \`espalier import --project ID --out ${MANIFEST}\``]),
    '`espalier plan` shows what would change',
    ...(hasWorkflows
      ? [
          'give the repository the secret ESPALIER_API_KEY: `gh secret set ESPALIER_API_KEY`',
          'put the commit of a release of the Action into both workflows, and commit',
        ]
      : []),
  ]
  return ['\nNext', ...steps.map((step, index) => `  ${index + 1}. ${step}`)]
}
