/**
 * Internal state of the objects that the package returns. Only the properties of these objects are public API. Their
 * internal state may change, and is not in the published types.
 */
import type { ReadApi, WriteApi } from '../api/index.ts'
import type { Manifests, Planned } from '../workflow/index.ts'

class Internals<Internal> {
  readonly #known = new WeakMap<object, Internal>()
  readonly #source: string

  /** @param source the function that returns these objects. */
  constructor(source: string) {
    this.#source = source
  }

  publish<Public extends object>(shown: Public, internal: Internal): Public {
    this.#known.set(shown, internal)
    return shown
  }

  of(shown: object): Internal {
    const internal = this.#known.get(shown)
    if (internal === undefined) throw new TypeError(`This must come from ${this.#source}.`)
    return internal
  }
}

export const clients = new Internals<ReadApi | WriteApi>('createReadClient or createWriteClient')
export const manifests = new Internals<Manifests>('loadManifests')
export const plans = new Internals<Planned>('plan or planFrom')
