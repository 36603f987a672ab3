/** A key or token in a file that may be replaced while the agent runs. */
import { EspalierError } from '../../base/index.ts'

/** A shorter text is more likely a file that is still being written. */
const SHORTEST = 16

export class Secret {
  text: string
  readonly #name: string
  readonly #read: () => Promise<string>
  #problem = ''

  /** @param name such as `The key default`, for the log. */
  constructor(name: string, text: string, read: () => Promise<string>) {
    this.#name = name
    this.text = text
    this.#read = read
  }

  /**
   * Reads the secret again, and keeps the known one if the new one is too short or cannot be read.
   *
   * @returns whether it was replaced.
   */
  async reread(log: (line: string) => void): Promise<boolean> {
    const problem = await this.#replace().catch((error: unknown) => {
      if (error instanceof EspalierError) return error.message
      throw error
    })
    if (problem === undefined) log(`${this.#name} was replaced.`)
    else if (problem !== '' && problem !== this.#problem) log(`${this.#name} stays as it was: ${problem}`)
    this.#problem = problem ?? ''
    return problem === undefined
  }

  hideIn(text: string): string {
    return text.replaceAll(this.text, '[a secret]')
  }

  /** @returns why the secret stays as it was, empty if it has not changed. `undefined` if it was replaced. */
  async #replace(): Promise<string | undefined> {
    const text = await this.#read()
    if (text === this.text) return ''
    if (text.length < SHORTEST) return `its file has fewer than ${SHORTEST} characters.`
    this.text = text
    return undefined
  }
}
