/** The order in which a manifest's keys are read best: who it is, what holds for all of it, what is shared, then what is declared. */

/** Of a map: its keys in order, and what its values are. Keys that are not named come last, as they are. */
export interface Shape {
  readonly order: readonly string[]
  readonly values?: Readonly<Record<string, Shape>>
  /** Of the value under any key: names are a person's own, and so is their order. */
  readonly each?: Shape
  /** Keys whose values have one spelling among several that mean the same. */
  readonly spelling?: Readonly<Record<string, 'duration' | 'number' | 'size'>>
}

const SIZE: Shape = { order: ['min', 'max'], spelling: { min: 'number', max: 'number' } }
const WINDOW: Shape = { order: ['days', 'from', 'to', 'timezone'] }

export const COMPUTE: Shape = {
  order: [
    'id',
    'name',
    'profile',
    'size',
    'scaleToZero',
    'disabled',
    'pooler',
    'passwordlessAccess',
    'postgres',
    'restartWindow',
  ],
  values: {
    size: SIZE,
    pooler: { order: ['enabled', 'mode'] },
    postgres: { order: ['settings', 'preload'] },
    restartWindow: WINDOW,
  },
  spelling: { size: 'size', scaleToZero: 'duration' },
}

const COMPUTES = { primary: COMPUTE, replicas: { order: [], each: COMPUTE } }
const BRANCH: Shape = { order: ['protect', 'primary', 'replicas'], values: COMPUTES }
const RULE: Shape = { order: ['match', 'except', 'protect', 'primary', 'replicas'], values: COMPUTES }

export const DOCUMENT: Shape = {
  order: [
    'version',
    'project',
    'extends',
    'restartWindow',
    'prune',
    'parkOn',
    'defaults',
    'profiles',
    'branches',
    'rules',
  ],
  values: {
    restartWindow: WINDOW,
    defaults: COMPUTE,
    profiles: { order: [], each: COMPUTE },
    branches: { order: [], each: BRANCH },
    rules: { order: [], each: RULE },
  },
}

export const rankOf = (shape: Shape, key: string): number => {
  const rank = shape.order.indexOf(key)
  return rank < 0 ? shape.order.length : rank
}
