/** Sandbox seeds may lie beside manifests. */
import { isMap, isScalar, isSeq } from 'yaml'
import type { YamlDocument } from '../yaml/documents.ts'

const SEED_KEYS: readonly unknown[] = ['projects', 'keys', '$schema']

/** A map of nothing but a list of `projects`, each with an id, and perhaps `keys`: no manifest has such keys. */
export const isSeed = ({ document, problems }: YamlDocument): boolean => {
  const root = document?.contents
  if (problems.length > 0 || !isMap(root)) return false
  const keys = root.items.map(({ key }) => (isScalar(key) ? key.value : undefined))
  if (!keys.every((key) => SEED_KEYS.includes(key))) return false
  const projects = root.get('projects', true)
  return isSeq(projects) && projects.items.length > 0 && projects.items.every((one) => isMap(one) && one.has('id'))
}
