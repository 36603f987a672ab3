import type { Desired, Diagnostic, SizeTable, Source } from '../model/index.ts'

/** A file's text, under the path that people are shown (forward slashes). */
export interface ManifestFile {
  readonly path: string
  readonly text: string
}

export interface LoadOptions {
  /** What paths are relative to, and the tree that `extends` must not leave. Default: the process's folder. */
  readonly cwd?: string
  readonly sizeTable?: SizeTable
}

export interface LoadedManifests {
  /** Of the documents that could be read; to be planned with only where no diagnostic is an error. */
  readonly desired: Desired
  /** In the order of files and lines. */
  readonly diagnostics: readonly Diagnostic[]
  /** Every manifest that was read, shared files included. */
  readonly files: readonly string[]
  /** Sandbox seeds that are next to the manifests; nothing of them was read as a manifest. */
  readonly seeds: readonly string[]
  /** Policy files that are next to the manifests. */
  readonly policyFiles: readonly string[]
  /** Their texts, by path. */
  readonly texts: ReadonlyMap<string, string>
  /** The text of the line that a source points at. */
  lineOf(source: Source): string | undefined
}
