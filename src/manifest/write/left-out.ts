/** What a live compute has and no manifest can hold: it is not managed, and people should know. */
import type { ObservedCompute } from '../../model/index.ts'
import { unwritable } from './attributes.ts'

/** Each the end of a sentence. */
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
