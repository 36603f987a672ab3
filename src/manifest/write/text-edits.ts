/** Replaces a range of a text. */
export interface TextEdit {
  /** Offsets into the text; `end` is exclusive. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Returns `text` from `start` to `end` with the edits in that range applied. Edits must not overlap; any order. */
export const applyEdits = (
  text: string,
  edits: readonly TextEdit[],
  start: number = 0,
  end: number = text.length,
): string => {
  let done = start
  let result = ''
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < start || edit.end > end) continue
    result += text.slice(done, edit.start) + edit.text
    done = edit.end
  }
  return result + text.slice(done, end)
}
