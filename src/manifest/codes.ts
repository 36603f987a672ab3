/** All codes of problems in manifests and policies. `espalier explain` and docs/codes.md show them. */
import type { ManifestCode } from '../model/index.ts'

/** A mistake and its correction: YAML below `version` and `project`, unless it has its own `version`. */
export interface Mistake {
  readonly mistake: string
  readonly correction: string
}

interface Explanation extends Partial<Mistake> {
  readonly rule: string
  readonly example: string
  readonly wayOut?: string
}

const SIZE = 'branches: { main: { primary: { size: 1 } } }'
const PROJECT = 'project: quiet-river-12345678'

const code = (rule: string, example: string, wayOut: string, mistake: Partial<Mistake> = {}): Explanation => ({
  rule,
  example,
  wayOut,
  ...mistake,
})

/** The example is an attribute of a compute. */
const attribute = (rule: string, example: string, wayOut: string): Explanation =>
  code(rule, example, wayOut, {
    mistake: `branches:\n  main:\n    primary: { ${example} }`,
    correction: `branches:\n  main:\n    primary: { ${wayOut} }`,
  })

/** The example is a key of a document. */
const key = (rule: string, example: string, wayOut: string): Explanation =>
  code(rule, example, wayOut, { mistake: `${example}\n${SIZE}`, correction: `${wayOut}\n${SIZE}` })

const KEEP_ONE = 'Keep one of the two.'

export const DIAGNOSTIC_CODES: Readonly<Record<ManifestCode, Explanation>> = {
  E_NO_MANIFESTS: code(
    'At least one manifest must be read. An empty set never means "delete everything".',
    'espalier validate empty-folder/',
    'Name a file, folder or glob: espalier validate espalier.yaml',
  ),
  E_NOT_FOUND: code(
    'Every path must be a file or folder, and every glob must match a file.',
    'espalier validate projects/*.yml',
    'Check the spelling, and quote globs: espalier validate "projects/*.yaml"',
  ),
  E_OUTSIDE: code(
    'Links in a manifest folder must stay inside the current folder. In a commit, links and submodules are not read.',
    'shared.yaml -> /etc/shared.yaml',
    'Copy the file into the folder.',
  ),
  E_TOO_LARGE: code(
    'A file can be at most 32 MiB in size, and all files together at most 64 MiB. A document can have at most 400,000 YAML tokens, and all documents together 4,000,000.',
    'one document with 30,000 computes',
    'Write one document per project, and use rules and profiles instead of repetition.',
  ),
  E_TOO_MANY: code(
    'At most 1,000 problems are reported.',
    'more than 1,000 problems',
    'Fix the reported ones, then run the command again.',
  ),
  E_ENCODING: code(
    'A manifest must be UTF-8.',
    'a file saved as UTF-16',
    'Save it as UTF-8, for example with iconv -t utf-8.',
  ),
  E_EMPTY: code(
    'A manifest file must have at least one document.',
    'a file that contains only comments',
    'Add a manifest, or delete the file.',
    { mistake: '# nothing but comments', correction: SIZE },
  ),
  E_YAML: code(
    'A manifest must be valid YAML 1.2.',
    'branches: { main: {}',
    'Close the brace: branches: { main: {} }',
    {
      mistake: 'branches: { main: { primary: { size: 1 } }',
      correction: SIZE,
    },
  ),
  E_DUPLICATE_KEY: code('A map can have each key only once.', 'prune: true, and later prune: false', KEEP_ONE, {
    mistake: 'branches:\n  main: { primary: { size: 1 } }\n  main: { primary: { size: 2 } }',
    correction: 'branches:\n  main: { primary: { size: 2 } }',
  }),
  E_TAG: attribute('A manifest cannot contain YAML tags.', 'size: !cu 1', 'size: 1'),
  E_ALIAS_LIMIT: code(
    'A document can have at most 1,000 aliases, and at most 400,000 values once they are expanded.',
    '*defaults in 1,001 places',
    'Use profiles instead of aliases.',
  ),
  E_TOO_DEEP: code(
    'Maps and lists can be nested at most 64 levels deep.',
    '[[[[…]]]]',
    'Remove levels: a manifest needs no more than eight.',
  ),
  E_VERSION: code('The version of the format must be 1.', 'version: 2', 'version: 1', {
    mistake: `version: 2\n${PROJECT}\n${SIZE}`,
    correction: `version: 1\n${PROJECT}\n${SIZE}`,
  }),
  E_REQUIRED: code('A required key must be set.', 'a document without `project`', PROJECT, {
    mistake: `version: 1\n${SIZE}`,
    correction: `version: 1\n${PROJECT}\n${SIZE}`,
  }),
  E_UNKNOWN_KEY: attribute('Only documented keys are allowed.', 'scaletozero: 5m', 'scaleToZero: 5m'),
  E_NULL: code('Every key must have a value. Leave out what you do not manage.', 'size: null', 'Delete the key.', {
    mistake: 'branches:\n  main:\n    primary:\n      size: 1\n      scaleToZero:',
    correction: 'branches:\n  main:\n    primary:\n      size: 1',
  }),
  E_TYPE: key('A value must have the type that its key requires.', 'prune: "yes"', 'prune: true'),
  E_VALUE: attribute(
    'A value must be one that its key allows.',
    'pooler: { mode: session }',
    'pooler: { mode: transaction }',
  ),
  E_SIZE_STEP: attribute(
    'A size must be in the size table. `espalier sizes` prints it; --size-table replaces it.',
    'size: 3.5',
    'size: 4',
  ),
  E_AUTOSCALING_MAX: attribute(
    'Autoscaling is limited to 16 CU.',
    'size: { min: 10, max: 18 }',
    'size: { min: 10, max: 16 }',
  ),
  E_MIN_ABOVE_MAX: attribute('`min` must be at most `max`.', 'size: { min: 4, max: 1 }', 'size: { min: 1, max: 4 }'),
  E_SPREAD: attribute(
    '`max` must be at most 8 CU above `min`.',
    'size: { min: 2, max: 12 }',
    'size: { min: 2, max: 10 }',
  ),
  E_SCALE_TO_ZERO_SIZE: attribute(
    'A compute above 16 CU cannot scale to zero.',
    'size: 24, scaleToZero: 5m',
    'size: 24, scaleToZero: never',
  ),
  E_DURATION: attribute(
    'A duration must be written with the units d, h, m and s, in this order.',
    'scaleToZero: five minutes',
    'scaleToZero: 5m',
  ),
  E_DURATION_UNIT: attribute('A duration must have a unit.', 'scaleToZero: 300', 'scaleToZero: 300s'),
  E_DURATION_RANGE: attribute('`scaleToZero` must be from 1m to 7d.', 'scaleToZero: 10s', 'scaleToZero: 1m'),
  E_TIME: key(
    'A time of day must be HH:MM, in quotes.',
    'restartWindow: { from: 2, to: "04:00", timezone: UTC }',
    'restartWindow: { from: "02:00", to: "04:00", timezone: UTC }',
  ),
  E_TIMEZONE: key(
    'A time zone must be an IANA name.',
    'restartWindow: { from: "02:00", to: "04:00", timezone: CET+1 }',
    'restartWindow: { from: "02:00", to: "04:00", timezone: Europe/Berlin }',
  ),
  E_WINDOW_EMPTY: key(
    'A restart window must open at some time.',
    'restartWindow: { from: "02:00", to: "02:00", timezone: UTC }',
    'restartWindow: { from: "02:00", to: "04:00", timezone: UTC }',
  ),
  E_PIN: attribute('A pin must be a compute id.', 'id: br-still-lake-a1b2c3', 'id: ep-cool-dawn-a1b2c3'),
  E_ONE_PROJECT: code(
    'Manifests for several projects cannot name computes or branches by id.',
    'projects: [a, b], and a compute with id: ep-cool-dawn-a1b2c3',
    'Use the branch name, and pin in a document with one `project`.',
  ),
  E_NAME: code(
    'A compute name must have 1 to 64 characters and no control characters.',
    'replicas: { "": { size: 1 } }',
    'replicas: { reporting: { size: 1 } }',
    {
      mistake: 'branches: { main: { replicas: { "": { size: 1 } } } }',
      correction: 'branches: { main: { replicas: { reporting: { size: 1 } } } }',
    },
  ),
  E_NAME_TAKEN: code(
    'The computes of a branch must have different names.',
    'a primary and a replica that are both named reporting',
    'Rename one of the two.',
    {
      mistake: 'branches:\n  main:\n    primary: { name: reporting }\n    replicas: { reporting: { size: 1 } }',
      correction: 'branches:\n  main:\n    primary: { name: main }\n    replicas: { reporting: { size: 1 } }',
    },
  ),
  E_GLOB: code(
    'A glob can contain *, **, ?, [a-z], {a,b} and plain characters.',
    'match: "preview/["',
    'match: preview/*',
    {
      mistake: 'rules:\n  - match: "preview/[a"\n    primary: { size: 1 }',
      correction: 'rules:\n  - match: "preview/[a-z]*"\n    primary: { size: 1 }',
    },
  ),
  E_PROFILE_UNKNOWN: code(
    'A profile must be defined in the document or in a file that it extends.',
    'profile: smal',
    'profile: small',
    {
      mistake: 'branches: { main: { primary: { profile: small } } }',
      correction: 'profiles: { small: { size: 0.25 } }\nbranches: { main: { primary: { profile: small } } }',
    },
  ),
  E_EXTENDS: code(
    '`extends` must name shared files in the current folder, by a path relative to the manifest.',
    'extends: /etc/platform.yaml',
    'extends: ../platform.yaml',
  ),
  E_TWO_CLAIMS: code(
    'A branch of a project can be declared only once.',
    'main under `branches` in two documents of a project',
    KEEP_ONE,
    {
      mistake: `${SIZE}\n---\nversion: 1\n${PROJECT}\nbranches: { main: { primary: { size: 2 } } }`,
      correction: SIZE,
    },
  ),
  E_TWO_PINS: code('A compute can be pinned only once.', 'id: ep-cool-dawn-a1b2c3 on two branches', KEEP_ONE, {
    mistake:
      'branches:\n  main: { primary: { id: ep-cool-dawn-a1b2c3 } }\n  staging: { primary: { id: ep-cool-dawn-a1b2c3 } }',
    correction: 'branches:\n  main: { primary: { id: ep-cool-dawn-a1b2c3 } }\n  staging: { primary: { size: 1 } }',
  }),
  E_TWO_WAVES: code(
    'Waves can be defined in only one place.',
    '`waves` in two manifests',
    'Move them to one shared file.',
  ),
  E_TWO_RULES: code('A document can have only one rule per pattern.', 'match: preview/* in two rules', KEEP_ONE, {
    mistake: 'rules:\n  - { match: preview/*, primary: { size: 1 } }\n  - { match: preview/*, primary: { size: 2 } }',
    correction: 'rules:\n  - { match: preview/*, primary: { size: 1 } }',
  }),
  E_PRICE_TWICE: code(
    'A project can have only one price.',
    'cuHour: 0.16 in one document of a project and cuHour: 0.222 in another',
    'Keep one of the two, for example in a shared file.',
    {
      mistake: `price: { cuHour: 0.222, currency: USD }\n---\nversion: 1\n${PROJECT}\nprice: { cuHour: 0.16, currency: USD }`,
      correction: 'price: { cuHour: 0.222, currency: USD }',
    },
  ),
  E_POLICY_NAME: code('Policy names must be unique.', 'two policies named small-previews', 'Rename one of the two.'),
  E_POLICY_RULE: code(
    'A policy must have exactly one rule.',
    'rule: { maxSize: 0.25, prune: forbidden }',
    'rule: { maxSize: 0.25 }',
  ),
  E_POLICY_CONTRADICTION: {
    rule: 'Policies with the same selectors cannot require a minimum above a maximum.',
    example: 'Exclude the branches with `except` in one of the two.',
  },
  E_POLICY_BRANCHES: {
    rule: '`maxProjectCu` and `prune` apply to whole projects, so they cannot have `branches`.',
    example: 'Select projects with `projects` instead.',
  },
}

/** For most codes, a manifest with the mistake and its correction. */
export const MISTAKES: Readonly<Record<string, Mistake>> = Object.fromEntries(
  Object.entries(DIAGNOSTIC_CODES).flatMap(([name, { mistake, correction }]) =>
    mistake === undefined || correction === undefined ? [] : [[name, { mistake, correction }] as const],
  ),
)

/** Adds `version` and `project` if needed. */
export const wholeManifest = (text: string): string =>
  /^(?:version:|#)/.test(text) ? text : `version: 1\n${PROJECT}\n${text}`
