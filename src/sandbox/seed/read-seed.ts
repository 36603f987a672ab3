/** Reads seeds: from a file, or as a value of a program. */
import { EspalierError } from '../../model/index.ts'
import { issueText } from '../issue-text.ts'
import { type FileKind, parseYaml, readYaml } from '../yaml-file.ts'
import { type ResolvedSeed, type Seed, seedShape } from './seed.ts'

const KIND: FileKind = {
  code: 'E_SEED',
  title: 'The seed file',
  hint: 'docs/sandbox.md shows what a seed may contain.',
}

/**
 * @param name the file's name for messages.
 * @throws {EspalierError} `E_SEED`: one line for each mistake, with file, line and column.
 */
export const parseSeed = (text: string, name: string): Seed => parseYaml(text, name, seedShape, KIND) as Seed

/** @throws {EspalierError} `E_SEED` if the file cannot be read or is invalid. */
export const readSeed = async (path: string): Promise<Seed> => parseSeed(await readYaml(path, KIND), path)

/** @throws {EspalierError} `E_SEED` if the seed is invalid. */
export const resolveSeed = (value: Seed): ResolvedSeed => {
  const parsed = seedShape.safeParse(value)
  if (parsed.success) return parsed.data
  const mistakes = parsed.error.issues.map((issue) => `seed: ${issue.path.join('.')}: ${issueText(issue)}`)
  throw new EspalierError('E_SEED', mistakes.join('\n'), { hint: KIND.hint })
}
