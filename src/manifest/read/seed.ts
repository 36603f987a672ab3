/** Recognises other files that may be in the same folder as manifests. */
import { isPlainMap, type Plain } from '../yaml/plain.ts'

const SEED_KEYS = ['projects', 'keys', '$schema']
const POLICY_KEYS = ['version', 'policies', '$schema']

/**
 * A sandbox seed: a map with a list of `projects`, each with an id, and perhaps `keys`. No manifest looks like that.
 */
export const isSeed = (value: Plain | undefined): boolean => {
  if (!isPlainMap(value) || !Object.keys(value).every((key) => SEED_KEYS.includes(key))) return false
  const { projects } = value
  return Array.isArray(projects) && projects.length > 0 && projects.every((one) => isPlainMap(one) && 'id' in one)
}

export const isPolicyFile = (value: Plain | undefined): boolean =>
  isPlainMap(value) && 'policies' in value && Object.keys(value).every((key) => POLICY_KEYS.includes(key))
