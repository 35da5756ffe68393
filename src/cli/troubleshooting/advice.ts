/** The meaning of a code or a finding for an operator. Sentences, in Markdown. */
export interface Advice {
  readonly means: string
  /** The remedy. */
  readonly fix: string
}
