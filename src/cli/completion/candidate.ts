export interface Candidate {
  readonly word: string
  readonly about?: string
}
