/** What a code or a finding means to an operator. Sentences, in Markdown. */
export interface Advice {
  readonly means: string
  /** What to do. */
  readonly fix: string
}
