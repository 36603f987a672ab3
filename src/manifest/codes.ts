import type { ManifestCode } from '../model/index.ts'

interface Explanation {
  readonly rule: string
  readonly example: string
  readonly wayOut?: string
}

/**
 * All codes of problems in manifests and policies, each with its rule, an example of the mistake and its correction.
 */
export const DIAGNOSTIC_CODES: Readonly<Record<ManifestCode, Explanation>> = {
  E_NO_MANIFESTS: {
    rule: 'At least one manifest is read. An empty set never means "delete everything".',
    example: 'espalier validate empty-folder/',
    wayOut: 'Name a file, folder or glob: espalier validate espalier.yaml',
  },
  E_NOT_FOUND: {
    rule: 'Every path is a file or folder, and every glob matches a file.',
    example: 'espalier validate projects/*.yml',
    wayOut: 'Check the spelling, and quote globs: espalier validate "projects/*.yaml"',
  },
  E_OUTSIDE: {
    rule: 'Links in a manifest folder must stay inside the current folder. Of a commit, links and submodules are not read.',
    example: 'shared.yaml -> /etc/shared.yaml',
    wayOut: 'Copy the file into the folder.',
  },
  E_TOO_LARGE: {
    rule: 'A file has at most 32 MiB, all files together 64 MiB; a document has at most 400,000 YAML tokens, all together 4,000,000.',
    example: 'one document with 30,000 computes',
    wayOut: 'Use a document for each project, and rules and profiles for what repeats.',
  },
  E_TOO_MANY: {
    rule: 'At most 1,000 problems are reported.',
    example: '1,000 problems, and more',
    wayOut: 'Fix these, then run the command again.',
  },
  E_ENCODING: {
    rule: 'A manifest is UTF-8.',
    example: 'a file saved as UTF-16',
    wayOut: 'Save it as UTF-8, for example with iconv -t utf-8.',
  },
  E_EMPTY: {
    rule: 'A manifest file has at least one document.',
    example: 'a file with nothing but comments',
    wayOut: 'Add a manifest, or delete the file.',
  },
  E_YAML: {
    rule: 'A manifest is valid YAML 1.2.',
    example: 'branches: { main: {}',
    wayOut: 'Close the brace: branches: { main: {} }',
  },
  E_DUPLICATE_KEY: {
    rule: 'A map has each key once.',
    example: 'prune: true, and further down prune: false',
    wayOut: 'Keep one of the two.',
  },
  E_TAG: { rule: 'A manifest is plain data, without YAML tags.', example: 'size: !cu 1', wayOut: 'size: 1' },
  E_ALIAS_LIMIT: {
    rule: 'A document has at most 1,000 aliases, and at most 400,000 values once they are followed.',
    example: '*defaults in 1,001 places',
    wayOut: 'Use profiles instead of aliases.',
  },
  E_TOO_DEEP: {
    rule: 'Maps and lists are nested at most 64 levels deep.',
    example: '[[[[…]]]]',
    wayOut: 'Remove levels: a manifest needs no more than eight.',
  },
  E_VERSION: { rule: 'The version of the format is 1.', example: 'version: 2', wayOut: 'version: 1' },
  E_REQUIRED: {
    rule: 'A required key is set.',
    example: 'a document without `project`',
    wayOut: 'project: quiet-river-12345678',
  },
  E_UNKNOWN_KEY: {
    rule: 'Only documented keys are allowed.',
    example: 'scaletozero: 5m',
    wayOut: 'scaleToZero: 5m',
  },
  E_NULL: {
    rule: 'Every key needs a value. Leave out what you do not manage.',
    example: 'size: null',
    wayOut: 'Delete the key.',
  },
  E_TYPE: { rule: 'A value has the type of its key.', example: 'prune: "yes"', wayOut: 'prune: true' },
  E_VALUE: {
    rule: 'The value must be one that the key allows.',
    example: 'pooler: { mode: session }',
    wayOut: 'pooler: { mode: transaction }',
  },
  E_SIZE_STEP: {
    rule: 'A size is in the size table. `espalier sizes` prints it; --size-table replaces it.',
    example: 'size: 3.5',
    wayOut: 'size: 4',
  },
  E_AUTOSCALING_MAX: {
    rule: 'Autoscaling goes up to 16 CU.',
    example: 'size: { min: 10, max: 18 }',
    wayOut: 'size: { min: 10, max: 16 }',
  },
  E_MIN_ABOVE_MAX: {
    rule: '`min` is at most `max`.',
    example: 'size: { min: 4, max: 1 }',
    wayOut: 'size: { min: 1, max: 4 }',
  },
  E_SPREAD: {
    rule: '`max` is at most 8 CU above `min`.',
    example: 'size: { min: 2, max: 12 }',
    wayOut: 'size: { min: 2, max: 10 }',
  },
  E_SCALE_TO_ZERO_SIZE: {
    rule: 'A compute above 16 CU never scales to zero.',
    example: '{ size: 24, scaleToZero: 5m }',
    wayOut: '{ size: 24, scaleToZero: never }',
  },
  E_DURATION: {
    rule: 'A duration is written with the units d, h, m and s, in this order.',
    example: 'scaleToZero: five minutes',
    wayOut: 'scaleToZero: 5m',
  },
  E_DURATION_UNIT: { rule: 'A duration has a unit.', example: 'scaleToZero: 300', wayOut: 'scaleToZero: 300s' },
  E_DURATION_RANGE: {
    rule: '`scaleToZero` takes from 1m to 7d.',
    example: 'scaleToZero: 10s',
    wayOut: 'scaleToZero: 1m',
  },
  E_TIME: { rule: 'A time of day is HH:MM, in quotes.', example: 'from: 2', wayOut: 'from: "02:00"' },
  E_TIMEZONE: { rule: 'A time zone is an IANA name.', example: 'timezone: CET+1', wayOut: 'timezone: Europe/Berlin' },
  E_WINDOW_EMPTY: {
    rule: 'A restart window must open at some time.',
    example: 'restartWindow: { from: "02:00", to: "02:00", timezone: UTC }',
    wayOut: 'restartWindow: { from: "02:00", to: "04:00", timezone: UTC }',
  },
  E_PIN: {
    rule: 'A pin is the id of a compute.',
    example: 'id: br-still-lake-a1b2c3',
    wayOut: 'id: ep-cool-dawn-a1b2c3',
  },
  E_ONE_PROJECT: {
    rule: 'Manifests for several projects cannot name computes or branches by id.',
    example: 'projects: [a, b], and a compute with id: ep-cool-dawn-a1b2c3',
    wayOut: 'Use the name of the branch, and pin in a document with one `project`.',
  },
  E_NAME: {
    rule: 'The name of a compute has 1 to 64 characters, none of them a control character.',
    example: 'replicas: { "": { size: 1 } }',
    wayOut: 'replicas: { reporting: { size: 1 } }',
  },
  E_NAME_TAKEN: {
    rule: 'The computes of a branch have different names.',
    example: 'a primary named reporting next to a replica reporting',
    wayOut: 'Rename one of the two.',
  },
  E_GLOB: {
    rule: 'Globs consist of *, **, ?, [a-z], {a,b} and plain characters.',
    example: 'match: "preview/["',
    wayOut: 'match: preview/*',
  },
  E_PROFILE_UNKNOWN: {
    rule: 'A profile is defined in the document or in a file that it extends.',
    example: 'profile: smal',
    wayOut: 'profile: small',
  },
  E_EXTENDS: {
    rule: '`extends` names shared files in the same tree, by a path relative to the manifest.',
    example: 'extends: /etc/platform.yaml',
    wayOut: 'extends: ../platform.yaml',
  },
  E_TWO_CLAIMS: {
    rule: 'A branch of a project is declared once.',
    example: 'main under `branches` in two documents of a project',
    wayOut: 'Keep one of the two.',
  },
  E_TWO_PINS: {
    rule: 'A compute is pinned once.',
    example: 'id: ep-cool-dawn-a1b2c3 on two branches',
    wayOut: 'Keep one of the two.',
  },
  E_TWO_WAVES: {
    rule: 'Waves are defined in one place.',
    example: '`waves` in two manifests',
    wayOut: 'Move them to one shared file.',
  },
  E_TWO_RULES: {
    rule: 'A document has one rule for each pattern.',
    example: 'match: preview/* in two rules',
    wayOut: 'Keep one of the two.',
  },
  E_PRICE_TWICE: {
    rule: 'A project has one price.',
    example: 'price: { cuHour: 0.16, currency: USD } in one document of a project, 0.222 in another one',
    wayOut: 'Keep one of the two, for example in a shared file.',
  },
  E_POLICY_NAME: {
    rule: 'Policy names must be unique.',
    example: 'two policies named small-previews',
    wayOut: 'Rename one of the two.',
  },
  E_POLICY_RULE: {
    rule: 'A policy has exactly one rule.',
    example: 'rule: { maxSize: 0.25, prune: forbidden }',
    wayOut: 'rule: { maxSize: 0.25 }',
  },
  E_POLICY_CONTRADICTION: {
    rule: 'Policies with the same selectors do not ask for a minimum above a maximum.',
    example: 'Exclude the branches with `except` in one of the two.',
  },
  E_POLICY_BRANCHES: {
    rule: '`maxProjectCu` and `prune` concern whole projects, so they take no `branches`.',
    example: 'Select with `projects`.',
  },
}
