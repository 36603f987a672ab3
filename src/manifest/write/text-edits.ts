/** Changes to a text by stretches of it, so that every other byte stays as it is. */
export interface TextEdit {
  /** Offsets into the text; `end` is the first that stays. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/** `text` from `start` to `end` with the edits that are in there. Edits do not overlap; they need not be sorted. */
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
