/** What a live compute has and no manifest can say: it is not managed, and people should know. */
import { formatSize, type ObservedCompute, SCALE_TO_ZERO_DEFAULT } from '../../model/index.ts'
import { canSaySize, canSayTime } from './attributes.ts'

/** The `settings` of the API, of which a manifest declares `pg_settings` and the list of libraries. */
interface LiveSettings {
  readonly preload_libraries?: { readonly use_defaults?: boolean | undefined } | undefined
  readonly [other: string]: unknown
}

/** Each the end of a sentence. */
export const leftOutOf = ({
  attributes: { size, scaleToZero },
  settings = {},
}: ObservedCompute & { readonly settings?: LiveSettings }): readonly string[] => {
  const { pg_settings: _declared, preload_libraries: preload, ...others } = settings
  return [
    ...(size === undefined || canSaySize(size) ? [] : [`its size of ${formatSize(size)}`]),
    // The default says nothing of a compute that is too large to scale to zero.
    ...(scaleToZero === undefined || scaleToZero === SCALE_TO_ZERO_DEFAULT || canSayTime(scaleToZero, size)
      ? []
      : [`its suspend timeout of ${scaleToZero} s`]),
    ...(preload?.use_defaults === true ? ['the default libraries that it preloads'] : []),
    ...Object.keys(others)
      .filter((key) => !isEmpty(others[key]))
      .map((key) => `its settings.${key}`),
  ]
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
