/** Records a run in a file with one event per line. An event is on disk before the call that it announces is made. */
import { type FileHandle, open } from 'node:fs/promises'
import { EspalierError, plainJson, rejectLink } from '../../base/index.ts'
import type { ApplyEvent } from '../../model/index.ts'

export interface Journal {
  /** @throws {EspalierError} `E_OUT` if the event cannot be written, for example because the disk is full. */
  write(event: ApplyEvent): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a journal, and appends to it if it already exists. A new file is readable only by its owner.
 *
 * @throws {EspalierError} `E_OUT` if the file cannot be opened.
 */
export const openJournal = async (path: string): Promise<Journal> => {
  const failed = (doing: string) => (cause: unknown) => {
    throw new EspalierError('E_OUT', `The journal ${path} cannot be ${doing}: ${wordsOf(cause)}.`, {
      hint: 'Make room or choose another file with --journal, then run the same command again.',
      cause,
    })
  }
  await rejectLink(path).catch(failed('opened'))
  const handle = await open(path, 'a+', 0o600).catch(failed('opened'))
  await endLine(handle).catch(failed('written'))
  let last: Promise<void> = Promise.resolve()
  return {
    write: (event) => {
      const written = last.then(async () => {
        await handle.appendFile(`${plainJson(event)}\n`)
        await handle.datasync()
      })
      last = written.catch(() => undefined)
      return written.catch(failed('written'))
    },
    close: async () => {
      await last
      await handle.close()
    },
  }
}

/** Ends the last line, because a run that was killed may have left it incomplete. */
const endLine = async (handle: FileHandle): Promise<void> => {
  const { size } = await handle.stat()
  if (size === 0) return
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  if (buffer.toString() !== '\n') await handle.appendFile('\n')
}

const wordsOf = (cause: unknown): string =>
  cause instanceof Error ? String('code' in cause ? cause.code : cause.message) : String(cause)
