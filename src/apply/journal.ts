/** Records a run, one event per line. Each is on disk before the call that it announces. */
import { type FileHandle, open } from 'node:fs/promises'
import { rejectLink } from '../base/index.ts'
import { type ApplyEvent, EspalierError, plainJson } from '../model/index.ts'

export interface Journal {
  /** @throws {EspalierError} `E_JOURNAL` if the event cannot be written, for example because the disk is full. */
  write(event: ApplyEvent): Promise<void>
  close(): Promise<void>
}

/**
 * Appends to `path`. A new file is readable only by its owner.
 *
 * @throws {EspalierError} `E_JOURNAL` if it cannot be opened.
 */
export const openJournal = async (path: string): Promise<Journal> => {
  const failed = (doing: string) => (cause: unknown) => {
    throw new EspalierError('E_JOURNAL', `The journal ${path} cannot be ${doing}: ${wordsOf(cause)}.`, {
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

/** A run that was killed may have left an incomplete line. */
const endLine = async (handle: FileHandle): Promise<void> => {
  const { size } = await handle.stat()
  if (size === 0) return
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  if (buffer.toString() !== '\n') await handle.appendFile('\n')
}

const wordsOf = (cause: unknown): string =>
  cause instanceof Error ? String('code' in cause ? cause.code : cause.message) : String(cause)
