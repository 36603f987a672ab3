/** For each code, a manifest with the mistake and its correction. `espalier explain` shows both. */
import type { ManifestCode } from '../model/index.ts'

export interface Mistake {
  /** YAML below `version` and `project`, unless it has its own `version`. */
  readonly mistake: string
  readonly correction: string
}

const SIZE = 'branches: { main: { primary: { size: 1 } } }'

const primary = (mistake: string, correction: string): Mistake => ({
  mistake: `branches:\n  main:\n    primary: { ${mistake} }`,
  correction: `branches:\n  main:\n    primary: { ${correction} }`,
})

const window = (mistake: string, correction: string): Mistake => ({
  mistake: `restartWindow: { ${mistake} }\n${SIZE}`,
  correction: `restartWindow: { ${correction} }\n${SIZE}`,
})

export const MISTAKES: Readonly<Partial<Record<ManifestCode, Mistake>>> = {
  E_EMPTY: { mistake: '# nothing but comments', correction: SIZE },
  E_YAML: { mistake: 'branches: { main: { primary: { size: 1 } }', correction: SIZE },
  E_DUPLICATE_KEY: {
    mistake: 'branches:\n  main: { primary: { size: 1 } }\n  main: { primary: { size: 2 } }',
    correction: 'branches:\n  main: { primary: { size: 2 } }',
  },
  E_TAG: primary('size: !cu 1', 'size: 1'),
  E_VERSION: {
    mistake: `version: 2\nproject: quiet-river-12345678\n${SIZE}`,
    correction: `version: 1\nproject: quiet-river-12345678\n${SIZE}`,
  },
  E_REQUIRED: { mistake: `version: 1\n${SIZE}`, correction: `version: 1\nproject: quiet-river-12345678\n${SIZE}` },
  E_UNKNOWN_KEY: primary('scaletozero: 5m', 'scaleToZero: 5m'),
  E_NULL: {
    mistake: 'branches:\n  main:\n    primary:\n      size: 1\n      scaleToZero:',
    correction: 'branches:\n  main:\n    primary:\n      size: 1',
  },
  E_TYPE: { mistake: `prune: "yes"\n${SIZE}`, correction: `prune: true\n${SIZE}` },
  E_VALUE: primary('pooler: { mode: statement }', 'pooler: { mode: transaction }'),
  E_SIZE_STEP: primary('size: 3.5', 'size: 3'),
  E_AUTOSCALING_MAX: primary('size: { min: 12, max: 18 }', 'size: { min: 8, max: 16 }'),
  E_MIN_ABOVE_MAX: primary('size: { min: 4, max: 1 }', 'size: { min: 1, max: 4 }'),
  E_SPREAD: primary('size: { min: 2, max: 12 }', 'size: { min: 2, max: 10 }'),
  E_SCALE_TO_ZERO_SIZE: primary('size: 20, scaleToZero: 5m', 'size: 20, scaleToZero: never'),
  E_DURATION: primary('scaleToZero: soon', 'scaleToZero: 5m'),
  E_DURATION_UNIT: primary('scaleToZero: 300', 'scaleToZero: 300s'),
  E_DURATION_RANGE: primary('scaleToZero: 5s', 'scaleToZero: 1m'),
  E_TIME: window('from: "2:00", to: "04:00", timezone: UTC', 'from: "02:00", to: "04:00", timezone: UTC'),
  E_TIMEZONE: window(
    'from: "02:00", to: "04:00", timezone: Berlin',
    'from: "02:00", to: "04:00", timezone: Europe/Berlin',
  ),
  E_WINDOW_EMPTY: window('from: "02:00", to: "02:00", timezone: UTC', 'from: "02:00", to: "04:00", timezone: UTC'),
  E_PIN: primary('id: main', 'id: ep-cool-dawn-a1b2c3'),
  E_NAME: {
    mistake: 'branches: { main: { replicas: { "": { size: 1 } } } }',
    correction: 'branches: { main: { replicas: { reporting: { size: 1 } } } }',
  },
  E_NAME_TAKEN: {
    mistake: 'branches:\n  main:\n    primary: { name: reporting }\n    replicas: { reporting: { size: 1 } }',
    correction: 'branches:\n  main:\n    primary: { name: main }\n    replicas: { reporting: { size: 1 } }',
  },
  E_GLOB: {
    mistake: 'rules:\n  - match: "preview/[a"\n    primary: { size: 1 }',
    correction: 'rules:\n  - match: "preview/[a-z]*"\n    primary: { size: 1 }',
  },
  E_PROFILE_UNKNOWN: {
    mistake: 'branches: { main: { primary: { profile: small } } }',
    correction: 'profiles: { small: { size: 0.25 } }\nbranches: { main: { primary: { profile: small } } }',
  },
  E_TWO_CLAIMS: {
    mistake: `${SIZE}\n---\nversion: 1\nproject: quiet-river-12345678\nbranches: { main: { primary: { size: 2 } } }`,
    correction: SIZE,
  },
  E_PRICE_TWICE: {
    mistake:
      'price: { cuHour: 0.222, currency: USD }\n---\nversion: 1\nproject: quiet-river-12345678\nprice: { cuHour: 0.16, currency: USD }',
    correction: 'price: { cuHour: 0.222, currency: USD }',
  },
  E_TWO_PINS: {
    mistake:
      'branches:\n  main: { primary: { id: ep-cool-dawn-a1b2c3 } }\n  staging: { primary: { id: ep-cool-dawn-a1b2c3 } }',
    correction: 'branches:\n  main: { primary: { id: ep-cool-dawn-a1b2c3 } }\n  staging: { primary: { size: 1 } }',
  },
  E_TWO_RULES: {
    mistake: 'rules:\n  - { match: preview/*, primary: { size: 1 } }\n  - { match: preview/*, primary: { size: 2 } }',
    correction: 'rules:\n  - { match: preview/*, primary: { size: 1 } }',
  },
}

/** Adds `version` and `project` if needed. */
export const wholeManifest = (text: string): string =>
  /^(?:version:|#)/.test(text) ? text : `version: 1\nproject: quiet-river-12345678\n${text}`
