/** Explains all codes for problems in manifests and policies, for `espalier explain` and docs/codes.md. */
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

/** Explains a problem with an attribute of a compute. @param wayOut the corrected attribute. */
const attribute = (rule: string, example: string, wayOut: string): Explanation =>
  code(rule, example, wayOut, {
    mistake: `branches:\n  main:\n    primary: { ${example} }`,
    correction: `branches:\n  main:\n    primary: { ${wayOut} }`,
  })

/** Explains a problem with a key at the top level of a document. @param wayOut the corrected key. */
const key = (rule: string, example: string, wayOut: string): Explanation =>
  code(rule, example, wayOut, { mistake: `${example}\n${SIZE}`, correction: `${wayOut}\n${SIZE}` })

const KEEP_ONE = 'Keep one of the two.'

export const DIAGNOSTIC_CODES: Readonly<Record<ManifestCode, Explanation>> = {
  E_NO_MANIFESTS: code(
    'The given paths must contain at least one manifest. Without any, Espalier stops rather than delete everything.',
    'espalier validate empty-folder/',
    'Pass a file, folder or glob that contains manifests: espalier validate espalier.yaml',
  ),
  E_NOT_FOUND: code(
    'Every path must be an existing file or folder, and every glob must match at least one file.',
    'espalier validate projects/*.yml',
    'Check the spelling, and put globs in quotes: espalier validate "projects/*.yaml"',
  ),
  E_OUTSIDE: code(
    'A link in a manifest folder must stay inside the current folder. In a commit, links and submodules are not read.',
    'shared.yaml -> /etc/shared.yaml',
    'Copy the file into the folder.',
  ),
  E_TOO_LARGE: code(
    'A file can be at most 32 MiB in size, and all files together at most 64 MiB. A document can have at most 400,000 YAML tokens, and all documents together 4,000,000.',
    'one document with 30,000 computes',
    'Write one document per project, and use rules and profiles instead of repeating settings.',
  ),
  E_TOO_MANY: code(
    'At most 1,000 problems are reported at a time.',
    'manifests with more than 1,000 problems',
    'Fix the reported problems, then run the command again.',
  ),
  E_ENCODING: code(
    'A manifest must be UTF-8.',
    'a file saved as UTF-16',
    'Save the file as UTF-8, for example with iconv -t utf-8.',
  ),
  E_EMPTY: code(
    'A manifest file must contain at least one document.',
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
  E_DUPLICATE_KEY: code('A map can contain each key only once.', 'prune: true, and later prune: false', KEEP_ONE, {
    mistake: 'branches:\n  main: { primary: { size: 1 } }\n  main: { primary: { size: 2 } }',
    correction: 'branches:\n  main: { primary: { size: 2 } }',
  }),
  E_TAG: attribute('A manifest cannot contain YAML tags.', 'size: !cu 1', 'size: 1'),
  E_ALIAS_LIMIT: code(
    'A document can have at most 1,000 aliases, and at most 400,000 values after its aliases are expanded.',
    '*defaults in 1,001 places',
    'Use profiles instead of aliases.',
  ),
  E_TOO_DEEP: code(
    'Maps and lists can be nested at most 64 levels deep.',
    '[[[[…]]]]',
    'Remove levels. A manifest never needs more than eight.',
  ),
  E_VERSION: code('The format version of a manifest must be 1.', 'version: 2', 'version: 1', {
    mistake: `version: 2\n${PROJECT}\n${SIZE}`,
    correction: `version: 1\n${PROJECT}\n${SIZE}`,
  }),
  E_REQUIRED: code('A required key must be set.', 'a document without `project`', PROJECT, {
    mistake: `version: 1\n${SIZE}`,
    correction: `version: 1\n${PROJECT}\n${SIZE}`,
  }),
  E_UNKNOWN_KEY: attribute('A manifest can contain only documented keys.', 'scaletozero: 5m', 'scaleToZero: 5m'),
  E_NULL: code('Every key must have a value. Omit keys that you do not manage.', 'size: null', 'Delete the key.', {
    mistake: 'branches:\n  main:\n    primary:\n      size: 1\n      scaleToZero:',
    correction: 'branches:\n  main:\n    primary:\n      size: 1',
  }),
  E_TYPE: key('A value must have the type that its key requires.', 'prune: "yes"', 'prune: true'),
  E_VALUE: attribute(
    'A value must be one of the values that its key allows.',
    'pooler: { mode: session }',
    'pooler: { mode: transaction }',
  ),
  E_SIZE_STEP: attribute(
    'A size must be in the size table. `espalier sizes` prints it; --size-table replaces it.',
    'size: 3.5',
    'size: 4',
  ),
  E_AUTOSCALING_MAX: attribute(
    'A compute can autoscale to at most 16 CU.',
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
    'A compute with more than 16 CU cannot scale to zero.',
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
    'A time of day must have the format HH:MM and be in quotes.',
    'restartWindow: { from: 2, to: "04:00", timezone: UTC }',
    'restartWindow: { from: "02:00", to: "04:00", timezone: UTC }',
  ),
  E_TIMEZONE: key(
    'A time zone must be the name of an IANA time zone.',
    'restartWindow: { from: "02:00", to: "04:00", timezone: CET+1 }',
    'restartWindow: { from: "02:00", to: "04:00", timezone: Europe/Berlin }',
  ),
  E_WINDOW_EMPTY: key(
    'A restart window must not be empty: it needs different times to open and to close.',
    'restartWindow: { from: "02:00", to: "02:00", timezone: UTC }',
    'restartWindow: { from: "02:00", to: "04:00", timezone: UTC }',
  ),
  E_PIN: attribute('A pin must be the id of a compute.', 'id: br-still-lake-a1b2c3', 'id: ep-cool-dawn-a1b2c3'),
  E_ONE_PROJECT: code(
    'A document for several projects cannot refer to computes or branches by id.',
    'projects: [a, b], and a compute with id: ep-cool-dawn-a1b2c3',
    'Use the names of branches, and pin a compute in a document with only one `project`.',
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
    'Rename one of the two computes.',
    {
      mistake: 'branches:\n  main:\n    primary: { name: reporting }\n    replicas: { reporting: { size: 1 } }',
      correction: 'branches:\n  main:\n    primary: { name: main }\n    replicas: { reporting: { size: 1 } }',
    },
  ),
  E_GLOB: code(
    'A glob can contain *, **, ?, [a-z], {a,b} and ordinary characters.',
    'match: "preview/["',
    'match: preview/*',
    {
      mistake: 'rules:\n  - match: "preview/[a"\n    primary: { size: 1 }',
      correction: 'rules:\n  - match: "preview/[a-z]*"\n    primary: { size: 1 }',
    },
  ),
  E_PROFILE_UNKNOWN: code(
    'A profile must be defined in the same document or in a file that the document extends.',
    'profile: smal',
    'profile: small',
    {
      mistake: 'branches: { main: { primary: { profile: small } } }',
      correction: 'profiles: { small: { size: 0.25 } }\nbranches: { main: { primary: { profile: small } } }',
    },
  ),
  E_EXTENDS: code(
    '`extends` must name shared files inside the current folder, with paths that are relative to the manifest.',
    'extends: /etc/platform.yaml',
    'extends: ../platform.yaml',
  ),
  E_TWO_CLAIMS: code(
    'A branch of a project can be declared only once, and two of its replicas cannot have the same `renamedFrom`.',
    'main under `branches` in two documents for the same project',
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
    'Waves can be defined in only one file.',
    '`waves` in two manifests',
    'Move the waves to one shared file.',
  ),
  E_TWO_RULES: code('A document can have only one rule for each pattern.', 'match: preview/* in two rules', KEEP_ONE, {
    mistake: 'rules:\n  - { match: preview/*, primary: { size: 1 } }\n  - { match: preview/*, primary: { size: 2 } }',
    correction: 'rules:\n  - { match: preview/*, primary: { size: 1 } }',
  }),
  E_PRICE_TWICE: code(
    'A project can have only one price.',
    'cuHour: 0.16 in one document of a project, and cuHour: 0.222 in another document of the same project',
    'Keep one of the two prices, for example in a shared file.',
    {
      mistake: `price: { cuHour: 0.222, currency: USD }\n---\nversion: 1\n${PROJECT}\nprice: { cuHour: 0.16, currency: USD }`,
      correction: 'price: { cuHour: 0.222, currency: USD }',
    },
  ),
  E_POLICY_NAME: code(
    'Policy names must be unique.',
    'two policies named small-previews',
    'Rename one of the policies.',
  ),
  E_POLICY_RULE: code(
    'A policy must have exactly one rule.',
    'rule: { maxSize: 0.25, prune: forbidden }',
    'rule: { maxSize: 0.25 }',
  ),
  E_POLICY_CONTRADICTION: {
    rule: 'If two policies have the same selectors, the minimum of one cannot be above the maximum of the other.',
    example: 'In one of the two policies, exclude the branches with `except`.',
  },
  E_POLICY_BRANCHES: {
    rule: 'The rules `maxProjectCu` and `prune` apply to whole projects, so their policies cannot have `branches`.',
    example: 'Select projects with `projects` instead.',
  },
}

/** The codes for which a manifest with the mistake and a corrected manifest can be shown. */
export const MISTAKES: Readonly<Record<string, Mistake>> = Object.fromEntries(
  Object.entries(DIAGNOSTIC_CODES).flatMap(([name, { mistake, correction }]) =>
    mistake === undefined || correction === undefined ? [] : [[name, { mistake, correction }] as const],
  ),
)

/** Adds `version` and `project` if needed. */
export const wholeManifest = (text: string): string =>
  /^(?:version:|#)/.test(text) ? text : `version: 1\n${PROJECT}\n${text}`
