import { map, mapOr, oneOf, type Schema } from '../../base/index.ts'
import { formatSize, isFixed, isKnownSize, SIZE_TABLE, SIZES_IN_WORDS, type Size } from '../size.ts'
import type { AttributeRow } from './row.ts'

type SizeFields = { readonly autoscaling_limit_min_cu: 'cu'; readonly autoscaling_limit_max_cu: 'cu' }

const sizeSchema = () => {
  const steps = SIZE_TABLE.steps.map(({ cu }) => cu)
  const step = (description: string): Schema<number> =>
    oneOf(steps, { description, examples: [steps[0]], $comment: 'E_SIZE_STEP' })
  const { autoscalingMaxCu, maxSpreadCu, scaleToZeroMaxCu } = SIZE_TABLE
  return mapOr(
    map(
      { min: step('Minimum size, in CU.'), max: step('Maximum size, in CU.') },
      { required: ['min', 'max'], allOf: [{ sizeRange: true, $comment: 'E_SPREAD' }] },
    ),
    step('A fixed size, in CU.'),
    {
      description: `The size in compute units (CU). 1 CU has 4 GB of RAM. A number is a fixed size: ${SIZES_IN_WORDS}. { min, max } is an autoscaling range, up to ${autoscalingMaxCu} CU and at most ${maxSpreadCu} CU wide. Above ${scaleToZeroMaxCu} CU, \`scaleToZero\` must be \`never\`.`,
      examples: [0.25, 2, { min: 1, max: 8 }],
    },
  )
}

export const SIZE: AttributeRow<'size', SizeFields> = {
  type: 'size',
  path: 'size',
  fields: { autoscaling_limit_min_cu: 'cu', autoscaling_limit_max_cu: 'cu' },
  schema: sizeSchema(),
  rule: 'API reference: a change of the size or of an autoscaling limit restarts the compute',
  impact: () => 'restart',
  satisfied: (desired, observed) => desired.min === observed?.min && desired.max === observed?.max,
  read: (value) => {
    if (typeof value === 'number') return { min: value, max: value }
    const { min, max } = value as Size
    return { min, max }
  },
  write: (size) => (fitsManifest(size) ? (isFixed(size) ? size.min : new Map(Object.entries(size))) : undefined),
  isImported: () => true,
  fromWire: ({ autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max }) =>
    min === undefined || max === undefined ? undefined : { min, max },
  toWire: ({ min, max }, live) => ({
    ...(min === live?.min ? {} : { autoscaling_limit_min_cu: min }),
    ...(max === live?.max ? {} : { autoscaling_limit_max_cu: max }),
  }),
  format: formatSize,
}

const fitsManifest = ({ min, max }: Size): boolean => {
  if (!isKnownSize({ min, max }) || min > max) return false
  return min === max || (max <= SIZE_TABLE.autoscalingMaxCu && max - min <= SIZE_TABLE.maxSpreadCu)
}
