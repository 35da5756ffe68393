/** A model that a caller may ask for. */
export interface OfferedModel {
  /** `@slug/model` */
  readonly id: string
  readonly name: string
  /** Unix seconds; 0: not known. */
  readonly created: number
  /** A row of the catalogue. */
  readonly provider: string
}
