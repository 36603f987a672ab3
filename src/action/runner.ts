/** Communicates with the runner, through workflow commands on stdout and through files for outputs and the summary. */
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { defined } from '../base/index.ts'
import type { Annotation } from '../report/index.ts'
import type { Environment } from './inputs.ts'

/** For each step, GitHub shows only this many annotations per level and silently drops the others. */
const SHOWN_OF_A_LEVEL = 10

export interface Runner {
  print(line: string): void
  /** Hides the secret in everything that is logged from now on. */
  mask(secret: string): void
  notice(message: string): void
  warning(message: string): void
  error(title: string, message: string): void
  /** Shows the first ten annotations of each level and the number of the others. */
  annotate(annotations: readonly Annotation[]): void
  group(title: string, lines: string): void
  /** Stops the runner from treating output as commands, until the returned function is called. */
  stopCommands(): () => void
  output(name: string, value: string | number | boolean): void
  summary(markdown: string): void
}

/** @param prefix added to file names in annotations, because GitHub expects paths relative to the repository's root. */
export const openRunner = (env: Environment, write: (text: string) => void, prefix: string): Runner => {
  const command = (name: string, properties: Readonly<Record<string, string | number>>, message: string): void => {
    const list = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(String(value))}`)
    write(`::${name}${list.length === 0 ? '' : ` ${list.join(',')}`}::${escapeData(message)}\n`)
  }
  return {
    print: (line) => write(`${withoutCommands(line)}\n`),
    mask: (secret) => command('add-mask', {}, secret),
    notice: (message) => command('notice', {}, message),
    warning: (message) => command('warning', {}, message),
    error: (title, message) => command('error', { title }, message),
    annotate: (annotations) => {
      for (const level of ['error', 'warning'] as const) {
        const own = annotations.filter((annotation) => annotation.level === level)
        for (const { title, message, file, line, column } of own.slice(0, SHOWN_OF_A_LEVEL)) {
          const place = defined({ file: file && `${prefix}${file}`, line, col: column })
          command(level, { ...place, title }, message)
        }
        const more = own.length - SHOWN_OF_A_LEVEL
        if (more > 0) command('notice', {}, `${more} more ${level}s are not shown here: see the job summary.`)
      }
    },
    group: (title, lines) => {
      const token = `end-${randomUUID()}`
      const quoted = `::stop-commands::${token}\n${lines.trimEnd()}\n::${token}::`
      write(`::group::${escapeData(title)}\n${quoted}\n::endgroup::\n`)
    },
    stopCommands: () => {
      const token = `end-${randomUUID()}`
      write(`::stop-commands::${token}\n`)
      return () => write(`::${token}::\n`)
    },
    output: (name, value) => {
      const file = env.GITHUB_OUTPUT ?? ''
      // The delimiter is random, so the value cannot contain it.
      const delimiter = `end-${randomUUID()}`
      if (file !== '') appendFileSync(file, `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    },
    summary: (markdown) => {
      const file = env.GITHUB_STEP_SUMMARY ?? ''
      if (file !== '') appendFileSync(file, `${markdown}\n`)
    },
  }
}

/** The runner would execute `::error::` at the start of a line, and the older form `##[error]` anywhere. */
const withoutCommands = (line: string): string => line.replaceAll('##[', '#\\#[').replace(/^(\s*):(?=:)/gm, '$1\\:')

const escapeData = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
