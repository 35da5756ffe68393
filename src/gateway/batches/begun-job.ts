/** A batch, a video or a response in the background that was begun, and the stored provider that took it. */
export interface BegunJob {
  /** The id, or the text that `job-reference.ts` writes. */
  readonly noted: string
  /** A row of the catalogue. */
  readonly provider: string
  readonly slug: string
  /** The row of the stored provider; null in records of the former release. */
  readonly providerId: string | null
  /** The host that was asked: the one stored with the provider, or the origin of the catalogue's. Null in records of the former release. */
  readonly host: string | null
}
