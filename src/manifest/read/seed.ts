/** Recognises other files that may be in the same folder as manifests. */
import type { Plain } from '../yaml/tree.ts'

const SEED_KEYS = ['projects', 'keys', '$schema']
const POLICY_KEYS = ['version', 'policies', '$schema']

/**
 * A sandbox seed: a map with a list of `projects`, each with an id, and perhaps `keys`. No manifest looks like that.
 */
export const isSeed = (value: Plain | undefined): boolean => {
  if (!isMap(value) || !Object.keys(value).every((key) => SEED_KEYS.includes(key))) return false
  const { projects } = value
  return Array.isArray(projects) && projects.length > 0 && projects.every((one) => isMap(one) && 'id' in one)
}

export const isPolicyFile = (value: Plain | undefined): boolean =>
  isMap(value) && 'policies' in value && Object.keys(value).every((key) => POLICY_KEYS.includes(key))

const isMap = (value: Plain | undefined): value is { readonly [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
