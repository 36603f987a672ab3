/** Holds the stored state of a project, in memory and on disk. */
import { type DataFolder, NEW_PROJECT_FILE, type ProjectFile } from './data-folder.ts'

export class ProjectStore {
  readonly #id: string
  readonly #data: Pick<DataFolder, 'writeProject'>
  readonly #lost: (error: unknown) => void
  #file: ProjectFile
  #written = ''
  #writing: Promise<void> = Promise.resolve()

  /** @param lost called if a write fails, because after that no further work may be done. */
  constructor(
    id: string,
    data: Pick<DataFolder, 'writeProject'>,
    file: ProjectFile | undefined,
    lost: (error: unknown) => void,
  ) {
    this.#id = id
    this.#data = data
    this.#file = file ?? NEW_PROJECT_FILE
    this.#lost = lost
  }

  get file(): ProjectFile {
    return this.#file
  }

  change(change: (file: ProjectFile) => ProjectFile): void {
    this.#file = change(this.#file)
  }

  /** Changes the file and writes it to disk. Writes are serialized, and a file that has not changed is not written. */
  saveAs(change: (file: ProjectFile) => ProjectFile): Promise<void> {
    this.change(change)
    const file = this.#file
    const write = async (): Promise<void> => {
      const text = JSON.stringify(file)
      if (text !== this.#written) await this.#data.writeProject(this.#id, file)
      this.#written = text
    }
    const written = this.#writing.then(write)
    this.#writing = written.catch(() => undefined)
    return written.catch((error: unknown) => {
      this.#lost(error)
      throw error
    })
  }
}
