/** What is remembered of a project, in memory and on disk. */
import { type DataFolder, NEW_PROJECT_FILE, type ProjectFile } from './data-folder.ts'

export class ProjectStore {
  readonly #id: string
  readonly #data: Pick<DataFolder, 'writeProject'>
  readonly #lost: (error: unknown) => void
  #file: ProjectFile
  #saved: ProjectFile
  #written = ''
  #writing: Promise<void> = Promise.resolve()

  /** @param lost called where it cannot be written: then nothing more may be done. */
  constructor(
    id: string,
    data: Pick<DataFolder, 'writeProject'>,
    file: ProjectFile | undefined,
    lost: (error: unknown) => void,
  ) {
    this.#id = id
    this.#data = data
    this.#file = file ?? NEW_PROJECT_FILE
    this.#saved = this.#file
    this.#lost = lost
  }

  get file(): ProjectFile {
    return this.#file
  }

  /** What is on disk: after a crash, that is all that is known. */
  get saved(): ProjectFile {
    return this.#saved
  }

  change(change: (file: ProjectFile) => ProjectFile): void {
    this.#file = change(this.#file)
  }

  /** One after the other; what has not changed is not written. */
  save(): Promise<void> {
    const file = this.#file
    const write = async (): Promise<void> => {
      const text = JSON.stringify(file)
      if (text !== this.#written) await this.#data.writeProject(this.#id, file)
      this.#written = text
      this.#saved = file
    }
    const written = this.#writing.then(write)
    this.#writing = written.catch(() => undefined)
    return written.catch((error: unknown) => {
      this.#lost(error)
      throw error
    })
  }

  async saveAs(change: (file: ProjectFile) => ProjectFile): Promise<void> {
    this.change(change)
    await this.save()
  }
}

/** Without what keeps the next attempt waiting. */
export const withoutFailure = ({ retryAt: _, failure: __, ...file }: ProjectFile): ProjectFile => ({
  ...file,
  failures: 0,
})
