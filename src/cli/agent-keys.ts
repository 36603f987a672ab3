/** Reads the file given with `--keys`. It lists keys, each with its projects and the files that may declare them. */
import { z } from 'zod'
import type { AgentKey } from '../agent/index.ts'
import { globProblem } from '../base/index.ts'
import { type FileKind, readYaml } from '../base/yaml/index.ts'
import type { Io } from './io.ts'
import { findKey } from './key.ts'

const glob = z.string().refine((text) => globProblem(text) === undefined, { error: 'is not a valid glob' })
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

const KIND: FileKind = {
  code: 'E_KEY',
  title: 'The key list',
  hint: 'Write a list of { name, keyFile, projects: [GLOB], paths: [GLOB], account }.',
}

/** @throws {EspalierError} `E_KEY`: one line for each mistake, with file, line and column. */
export const readAgentKeys = async (path: string, io: Io): Promise<readonly AgentKey[]> => {
  const keys = await readYaml(io.locate(path), KEYS, KIND, path)
  return keys.map(({ keyFile, ...key }) => ({ ...key, read: () => findKey(keyFile, io) }))
}
