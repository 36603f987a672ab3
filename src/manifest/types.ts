import type { Desired, Diagnostic, Source } from '../model/index.ts'

/** The text of a file and its display path (with forward slashes). */
export interface ManifestFile {
  readonly path: string
  readonly text: string
}

export interface LoadedManifests {
  /** The desired state from all documents that could be read. Do not plan with it if there are errors. */
  readonly desired: Desired
  /** Sorted by file and line. */
  readonly diagnostics: readonly Diagnostic[]
  /** All manifests that were read, including shared files. */
  readonly files: readonly string[]
  /** Sandbox seeds that were found next to the manifests and skipped. */
  readonly seeds: readonly string[]
  /** Policy files that were found next to the manifests. */
  readonly policyFiles: readonly string[]
  /** Texts of the files, by path. */
  readonly texts: ReadonlyMap<string, string>
  /** The line of text at a source position. */
  lineOf(source: Source): string | undefined
}
