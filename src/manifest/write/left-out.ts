/** What manifests cannot express about a live compute. Users should know, because it is not managed. */
import type { ObservedCompute } from '../../model/index.ts'
import { unwritable } from './attributes.ts'

/** Each completes a sentence. */
export const leftOutOf = ({ attributes, settings = {} }: ObservedCompute): readonly string[] => {
  const { pg_settings: _declared, preload_libraries: preload, ...others } = settings
  return [
    ...unwritable(attributes),
    ...(preload?.use_defaults === true ? ['the default libraries that it preloads'] : []),
    ...Object.keys(others)
      .filter((key) => !isEmpty(others[key]))
      .map((key) => `its settings.${key}`),
  ]
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
