/** A file of faults, as a person orders them. */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { z } from 'zod'
import { EspalierError } from '../../model/index.ts'
import { issueText } from '../issue-text.ts'
import { type FaultOrder, faultShape } from './fault.ts'

const MAX_ALIASES = 100

/** @throws {EspalierError} `E_FAULTS` if the file cannot be read or is wrong. */
export const readFaults = async (path: string): Promise<readonly FaultOrder[]> => {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw wrong(path, cause.code ?? cause.message, cause)
  })
  let value: unknown
  try {
    value = parse(text, { maxAliasCount: MAX_ALIASES })
  } catch (cause) {
    throw wrong(path, cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause), cause)
  }
  const parsed = z.array(faultShape).safeParse(value)
  if (parsed.success) return value as readonly FaultOrder[]
  const issue = parsed.error.issues[0]
  const where = issue?.path.join('.') || 'the file'
  throw wrong(path, `${where}: ${issue === undefined ? 'is not a list of faults' : issueText(issue)}`)
}

const wrong = (path: string, why: string, cause?: unknown): EspalierError =>
  new EspalierError('E_FAULTS', `The faults in ${path} cannot be used (${why}).`, {
    hint: 'docs/sandbox.md lists the faults.',
    cause,
  })
