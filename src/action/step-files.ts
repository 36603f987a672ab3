/** Chooses the paths of the files that a step writes. */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PRIVATE, replaceFile } from '../base/index.ts'
import type { Job } from './job.ts'

/**
 * Returns the paths of the plan as JSON and of the saved plan. The input `plan-file` overrides the latter. The names
 * contain the label, so that artifacts of several jobs can be downloaded into one folder.
 */
export const stepFiles = ({ env, inputs: { label } }: Job): { readonly plan: string; readonly view: string } => {
  const root = env.RUNNER_TEMP || tmpdir()
  mkdirSync(root, { recursive: true })
  const folder = mkdtempSync(join(root, 'espalier-'))
  const name = label || 'espalier'
  return { plan: join(folder, `${name}.plan.json`), view: join(folder, `${name}.json`) }
}

export const writeFile = async (path: string, text: string): Promise<void> => {
  mkdirSync(dirname(path), { recursive: true })
  await replaceFile(path, text, 'The plan', PRIVATE)
}
