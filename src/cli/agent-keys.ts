/** Reads the file given with `--keys`. It lists keys, each with its projects and the files that may declare them. */
import { parse } from 'yaml'
import { z } from 'zod'
import type { AgentKey } from '../agent/index.ts'
import { globProblem, readBoundedFile } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'
import type { Io } from './io.ts'
import { findKey } from './key.ts'

const glob = z.string().refine((text) => globProblem(text) === undefined, { error: 'not a valid glob' })
const KEYS = z
  .array(
    z.strictObject({
      name: z.string().min(1),
      keyFile: z.string().min(1),
      projects: z.array(glob).optional(),
      paths: z.array(glob).optional(),
      account: z.string().optional(),
    }),
  )
  .min(1)

const MAX_BYTES = 1024 * 1024

/** @throws {EspalierError} `E_KEY` */
export const readAgentKeys = async (path: string, io: Io): Promise<readonly AgentKey[]> => {
  const { data, error } = KEYS.safeParse(await yamlOf(path, io))
  if (data === undefined) {
    const [issue] = error.issues
    throw new EspalierError(
      'E_KEY',
      `${path} is not a list of keys: ${[...(issue?.path ?? []), issue?.message].join(': ')}.`,
      {
        hint: 'Write a list of { name, keyFile, projects: [GLOB], paths: [GLOB], account }.',
      },
    )
  }
  return data.map(({ keyFile, ...key }) => ({ ...key, read: () => findKey(keyFile, io) }))
}

const yamlOf = async (path: string, { locate }: Io): Promise<unknown> => {
  try {
    return parse(await readBoundedFile(locate(path), MAX_BYTES))
  } catch (cause) {
    throw new EspalierError('E_KEY', `The file given with --keys cannot be read: ${path}.`, { cause })
  }
}
