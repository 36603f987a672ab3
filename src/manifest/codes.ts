/** Every code that reading a manifest can end in: its rule, and an example of what is right. */
export const DIAGNOSTIC_CODES = {
  E_NO_MANIFESTS: { rule: 'At least one manifest must be there.', example: 'espalier validate espalier.yaml' },
  E_NOT_FOUND: {
    rule: 'Every path names a file or a folder, every glob matches one.',
    example: 'espalier validate "projects/*.yaml"',
  },
  E_OUTSIDE: {
    rule: 'A link must not lead out of the folder that is walked.',
    example: 'Copy the file into the tree.',
  },
  E_TOO_LARGE: {
    rule: 'A file holds at most 32 MiB, all together 64 MiB; a document at most 400,000 YAML tokens, all together 4,000,000.',
    example: 'Give each project a document of its own.',
  },
  E_TOO_MANY: { rule: 'At most 1,000 problems are told.', example: 'Correct the first ones, and look again.' },
  E_ENCODING: { rule: 'A manifest is UTF-8.', example: 'iconv -t utf-8' },
  E_EMPTY: { rule: 'A manifest holds at least one document.', example: 'version: 1' },
  E_YAML: { rule: 'A manifest is YAML 1.2.', example: 'branches: { main: { primary: { size: 1 } } }' },
  E_DUPLICATE_KEY: { rule: 'A key stands once in a map.', example: 'Merge the two.' },
  E_TAG: { rule: 'A manifest is plain data: no custom tags.', example: 'size: 1' },
  E_ALIAS_LIMIT: { rule: 'A document follows at most 1,000 aliases.', example: 'Use profiles.' },
  E_TOO_DEEP: { rule: 'Nesting goes at most 64 levels deep.', example: 'A manifest needs no more than eight.' },
  E_VERSION: { rule: 'The format is version 1.', example: 'version: 1' },
  E_REQUIRED: { rule: 'A required key must be there.', example: 'project: quiet-river-12345678' },
  E_UNKNOWN_KEY: { rule: 'Only documented keys may stand.', example: 'scaleToZero: 5m' },
  E_NULL: { rule: 'An attribute that is not managed is left out; null means nothing.', example: 'Delete the key.' },
  E_TYPE: { rule: 'A value has the type that its key takes.', example: 'prune: true' },
  E_VALUE: { rule: 'A value is one of those that its key takes.', example: 'mode: transaction' },
  E_SIZE_STEP: {
    rule: 'A size is one of the table: `espalier sizes` lists it, --size-table gives another one.',
    example: 'size: 2',
  },
  E_AUTOSCALING_MAX: { rule: 'Autoscaling goes up to 16 CU (spec 8).', example: 'size: { min: 8, max: 16 }' },
  E_MIN_ABOVE_MAX: { rule: 'min is not above max.', example: 'size: { min: 1, max: 4 }' },
  E_SPREAD: { rule: 'max is at most 8 CU above min (spec 8).', example: 'size: { min: 2, max: 10 }' },
  E_SCALE_TO_ZERO_SIZE: { rule: 'A compute above 16 CU never scales to zero (spec 8).', example: 'scaleToZero: never' },
  E_DURATION: { rule: 'A duration has units: 90s, 5m, 1h30m, 7d.', example: 'scaleToZero: 5m' },
  E_DURATION_UNIT: { rule: 'A duration names its unit.', example: 'scaleToZero: 300s' },
  E_DURATION_RANGE: { rule: 'Scale to zero takes from 1m to 7d.', example: 'scaleToZero: 1m' },
  E_TIME: { rule: 'A time of day has two digits each for hour and minute.', example: 'from: "02:00"' },
  E_TIMEZONE: { rule: 'A time zone is an IANA name.', example: 'timezone: Europe/Berlin' },
  E_WINDOW_EMPTY: {
    rule: 'A restart window is open at some time.',
    example: 'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: Europe/Berlin }',
  },
  E_PIN: { rule: 'A pin is the id of a compute.', example: 'id: ep-cool-dawn-a1b2c3' },
  E_ONE_PROJECT: {
    rule: 'What several projects share cannot name the id of a compute or branch.',
    example: 'branches: { main: … }',
  },
  E_NAME: { rule: 'A name has 1 to 64 characters and no control characters.', example: 'reporting:' },
  E_NAME_TAKEN: { rule: 'A name stands once on a branch.', example: 'Rename one of the two.' },
  E_GLOB: { rule: 'Globs know *, **, ?, [a-z] and {a,b}.', example: 'match: preview/*' },
  E_PROFILE_UNKNOWN: {
    rule: 'A profile is defined in the document or in what it extends.',
    example: 'profiles: { small: { size: 0.25 } }',
  },
  E_EXTENDS: {
    rule: 'extends names a file of defaults and profiles inside the same tree.',
    example: 'extends: ../platform.yaml',
  },
  E_TWO_CLAIMS: { rule: 'A branch is declared once.', example: 'Keep one of the two.' },
  E_TWO_PINS: { rule: 'A compute is pinned once.', example: 'Keep one of the two.' },
  E_TWO_WAVES: { rule: 'Waves are defined in one place.', example: 'Keep them in a shared file.' },
  E_TWO_RULES: { rule: 'A pattern stands in one rule of a document.', example: 'Keep one of the two.' },
  E_POLICY_NAME: { rule: 'Each policy has a name of its own.', example: 'Rename one of the two.' },
  E_POLICY_RULE: { rule: 'A policy has exactly one rule.', example: 'rule: { maxSize: 0.25 }' },
  E_POLICY_CONTRADICTION: {
    rule: 'Policies with the same selectors do not ask for a minimum above a maximum.',
    example: 'Exclude the branches with `except` in one of the two.',
  },
  E_POLICY_BRANCHES: {
    rule: '`maxProjectCu` and `prune` concern whole projects, so they take no `branches`.',
    example: 'Select with `projects`.',
  },
} as const

export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES
