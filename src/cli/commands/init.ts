import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { stringify } from 'yaml'
import { ApiError, type Project, type ReadApi } from '../../api/index.ts'
import {
  counted,
  EspalierError,
  EXIT,
  type ExitCode,
  fileProblem,
  makeFolder,
  plainText,
  readIfExists,
  replaceFile,
  schemaAddress,
} from '../../base/index.ts'
import { MAX_FILE_BYTES, manifestSchema } from '../../manifest/index.ts'
import { DEFAULT_PATHS, matchingProjects, POLICY_FILES } from '../../workflow/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { askGit, POLICY_EXAMPLE, SCHEMA_FILE, withExtension, withSchema, workflowsFor } from '../init/files.ts'
import { withReadApi } from '../setup/connect.ts'
import { CONNECTION_FLAGS, IMPORTED_PROJECTS, toggle, usageError } from '../setup/flags.ts'
import {
  exportChecked,
  importProjects,
  observeOne,
  reportImported,
  reportNotes,
  reportOn,
} from '../setup/imported-manifest.ts'
import type { Io } from '../setup/io.ts'
import { hasKey } from '../setup/key.ts'
import { checkGlobs, FOLDER, liveProjects, undeclaredNote, visibleProjects } from '../setup/live-projects.ts'
import { ifAny, readManifests } from '../setup/manifests.ts'
import { completeCommands } from '../setup/suggested-commands.ts'
import { askLine } from '../terminal/ask.ts'
import { canAsk, print } from '../terminal/terminal.ts'

const DESCRIPTION = {
  flags: {
    project: IMPORTED_PROJECTS,
    'manifests-only': toggle(
      '',
      'Write only the manifests; skip editor settings (.vscode/), workflows (.github/workflows/) and the policy file',
    ),
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 init', 'With an API key, import every project, or choose at the terminal'],
    ['$0 init --project quiet-river-12345678', 'Without an API key, write a manifest to fill in'],
    ['$0 init --sandbox=seed.yaml', 'Try the command without an account'],
  ],
  notes: `Existing files are not overwritten, but missing entries are added to .vscode/settings.json and extensions.json.

Exit codes:
  0   done
  1   there is neither an API key nor a project id, a project could not be imported (the
      others are written), or another error`,
} as const satisfies Description

type InitFlags = ValuesOf<typeof DESCRIPTION>

const MANIFEST = 'espalier.yaml'
const PUBLIC_SCHEMA = schemaAddress('manifest')

export const initCommand = commandOf(DESCRIPTION, async (flags, io) => {
  const { hasManifest, code = EXIT.ok } = await writeManifest(flags, io)
  if (flags.manifestsOnly !== true) await writeEditorSettings(io)
  const hasWorkflows = flags.manifestsOnly !== true && (await writeWorkflows(io))
  for (const line of nextSteps(hasManifest, hasWorkflows)) print(completeCommands(line, flags.invocation), io.stdout)
  return code
})

interface Written {
  /** Whether there is a manifest now that does not need to be filled in. */
  readonly hasManifest: boolean
  readonly code?: ExitCode
}

const writeManifest = async (flags: InitFlags, io: Io): Promise<Written> => {
  const present = DEFAULT_PATHS.find((path) => existsSync(io.locate(path)))
  if (present !== undefined) {
    const how = 'to add live computes to it, run `espalier import --project ID --out FILE`'
    report(io, 'exists', `${present}; ${completeCommands(how, flags.invocation)}`)
    if (flags.project === undefined && hasKey(flags, io)) await reportUndeclared(flags, io)
    return { hasManifest: true }
  }
  const schema = flags.manifestsOnly === true ? PUBLIC_SCHEMA : SCHEMA_FILE
  if (!hasKey(flags, io)) {
    await replaceFile(io.locate(MANIFEST), starter(await projectWithoutKey(flags, io), schema), 'The manifest')
    report(io, 'written', `${MANIFEST}, which you must fill in, because there is no API key to read the project with`)
    return { hasManifest: false }
  }
  checkGlobs('project', flags.project)
  return withReadApi(flags, io, async (api) => {
    const named =
      flags.project === undefined ? await chooseProjects(api, io) : (await liveProjects(api, flags.project)).ids
    const [only, second] = named
    if (only !== undefined && second === undefined) return writeOne(api, only, schema, io)
    return writeSeveral(api, named, flags, io)
  })
}

const reportUndeclared = async (flags: InitFlags, io: Io): Promise<void> => {
  const manifests = await ifAny(readManifests([], io))
  if (manifests === undefined) return
  const note = await withReadApi(flags, io, (api) => undeclaredNote(api, manifests)).catch((error: unknown) => {
    // The files that init writes do not depend on this.
    if (!(error instanceof ApiError)) throw error
    report(io, 'not checked', `whether every project is declared. ${error.message}`)
    return undefined
  })
  if (note !== undefined) report(io, 'not declared', completeCommands(note, flags.invocation))
}

const SHOWN = 20

/** All projects that the key can access, unless the user picks one of them at the terminal. */
const chooseProjects = async (api: ReadApi, io: Io): Promise<readonly string[]> => {
  const projects = await visibleProjects(api)
  const ids = projects.map(({ id }) => id)
  if (projects.length === 1 || !canAsk(io)) return ids
  const listed = projects.slice(0, SHOWN).map(({ id, name }) => `  ${plainText(name)}  ${plainText(id)}`)
  const more = projects.length > SHOWN ? [`  and ${projects.length - SHOWN} more`] : []
  print([`The key has access to ${projects.length} projects:`, ...listed, ...more].join('\n'), io.stderr)
  const answer = await askLine('Press Enter to import all of them, or type an id, a name or a glob: ', io)
  if (answer === undefined) throw usageError('No project was chosen.', AGAIN)
  return answer === '' ? ids : pick(answer, projects)
}

const AGAIN = 'Run `espalier init` again, or use --project ID.'

const pick = (answer: string, projects: readonly Project[]): readonly string[] => {
  const named = projects.find(({ name }) => name.toLowerCase() === answer.toLowerCase())
  if (named !== undefined) return [named.id]
  checkGlobs('project', [answer])
  const chosen = matchingProjects(answer, projects)
  if (chosen.length > 0) return chosen
  throw new EspalierError('E_PROJECT_UNKNOWN', `There is no project ${plainText(answer)}.`, {
    hint: AGAIN,
  })
}

const writeOne = async (api: ReadApi, id: string, schema: string, io: Io): Promise<Written> => {
  const { project } = await observeOne(api, id)
  const exported = exportChecked(project, { pin: false, schema })
  const { text, computes } = exported
  await replaceFile(io.locate(MANIFEST), computes === 0 ? starter(project.id, schema) : text, 'The manifest')
  const known = computes === 0 ? 'the project has no compute yet' : `${counted(computes, 'compute')}; its plan is empty`
  report(io, 'written', `${MANIFEST}: ${known}`)
  reportNotes(exported, reportOn(io.stdout))
  return { hasManifest: computes > 0 }
}

const writeSeveral = async (api: ReadApi, ids: readonly string[], flags: InitFlags, io: Io): Promise<Written> => {
  const schema = flags.manifestsOnly === true ? PUBLIC_SCHEMA : `../${SCHEMA_FILE}`
  const options = { pin: false, schema }
  const imported = await importProjects(api, ids, FOLDER, options, io)
  const isComplete = reportImported(imported, reportOn(io.stdout), flags, io)
  return { hasManifest: true, code: isComplete ? EXIT.ok : EXIT.error }
}

const projectWithoutKey = async ({ project }: InitFlags, io: Io): Promise<string> => {
  const id =
    project?.join(' ') ??
    (canAsk(io) ? await askLine('Project id (the console shows it under Settings): ', io) : undefined)
  if (id !== undefined && /^[a-z0-9-]{1,60}$/.test(id)) return id
  if (id !== undefined)
    throw usageError(
      `${JSON.stringify(id)} is not a valid project id.`,
      'A project id has at most 60 characters and contains only lower-case letters, digits and hyphens.',
    )
  throw new EspalierError('E_USAGE', 'init needs an API key or a project id.', {
    hint: 'Set ESPALIER_API_KEY, or run `espalier init --project ID`. To try Espalier without an account, add --sandbox=SEED.yaml.',
  })
}

/**
 * A manifest that manages nothing yet, with an example in comments.
 *
 * @param schema the path or URL of the schema.
 */
const starter = (project: string, schema: string): string => `# yaml-language-server: $schema=${schema}
# The computes of each branch of this project. Computes that are not listed here are not managed.
version: 1
${stringify({ project }).trimEnd()}

# defaults:
#   scaleToZero: 5m
#
# branches:
#   main:
#     protect: true # nothing on it is deleted, moved or replaced
#     primary:
#       size: { min: 1, max: 4 }
#     replicas:
#       reporting: {}
#
# rules: # for branches that come and go
#   - match: preview/*
#     primary:
#       size: 0.25
`

const writeEditorSettings = async (io: Io): Promise<void> => {
  await writeNew(io, SCHEMA_FILE, `${JSON.stringify(manifestSchema(), null, 2)}\n`)
  for (const [file, edit] of [
    ['.vscode/settings.json', withSchema],
    ['.vscode/extensions.json', withExtension],
  ] as const) {
    const before = await textOf(io, file)
    const after = edit(before ?? '')
    if ('why' in after) report(io, 'unchanged', `${file}: ${after.why}`)
    else if (after.text === before) report(io, 'exists', file)
    else await write(io, file, after.text, before === undefined ? 'written' : 'added to')
  }
}

/** Also writes limits on what the workflows apply. @returns whether the workflow files exist now. */
const writeWorkflows = async (io: Io): Promise<boolean> => {
  const why = await noWorkflows(io)
  if (why !== undefined) {
    report(io, 'left out', `workflows: ${why}`)
    return false
  }
  for (const [name, text] of Object.entries(await workflowsFor(io.cwd)))
    await writeNew(io, `.github/workflows/espalier-${name}.yml`, text)
  const policies = POLICY_FILES.find((file) => existsSync(io.locate(file)))
  if (policies === undefined) await writeNew(io, POLICY_FILES[0], POLICY_EXAMPLE)
  else report(io, 'exists', policies)
  return true
}

const noWorkflows = async (io: Io): Promise<string | undefined> => {
  const folder = await askGit(io.cwd, 'rev-parse', '--show-prefix')
  if (folder === undefined) return 'this is not a git repository'
  if (folder !== '') return 'workflows must be in the root of the repository, so run `espalier init` there'
  const remotes = (await askGit(io.cwd, 'remote', '-v')) ?? ''
  return remotes === '' || remotes.includes('github') ? undefined : 'no remote of this repository is on GitHub'
}

const writeNew = async (io: Io, file: string, text: string): Promise<void> => {
  if ((await textOf(io, file)) !== undefined) report(io, 'exists', file)
  else await write(io, file, text, 'written')
}

const write = async (io: Io, file: string, text: string, how: string): Promise<void> => {
  await makeFolder(dirname(io.locate(file)))
  await replaceFile(io.locate(file), text, file)
  report(io, how, file)
}

const textOf = (io: Io, file: string): Promise<string | undefined> =>
  readIfExists(io.locate(file), MAX_FILE_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_OUT', `${file} cannot be read (${fileProblem(cause)}).`, { cause })
  })

const report = (io: Io, how: string, what: string): void => reportOn(io.stdout)(how, what)

const nextSteps = (hasManifest: boolean, hasWorkflows: boolean): readonly string[] => {
  const steps = [
    ...(hasManifest
      ? []
      : [`fill in ${MANIFEST}, or set ESPALIER_API_KEY and run \`espalier import --project ID --out ${MANIFEST}\``]),
    '`espalier plan` shows what would change',
    ...(hasWorkflows
      ? [
          'set the key for plans: `gh secret set ESPALIER_PLAN_KEY`',
          'set the key for applies, in an environment that only the default branch may use: `gh secret set ESPALIER_API_KEY --env production`',
          'commit and push',
        ]
      : []),
  ]
  return ['\nNext', ...steps.map((step, index) => `  ${index + 1}. ${step}`)]
}
