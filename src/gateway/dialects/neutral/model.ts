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

/** A model as its provider lists it. */
export interface ListedModel {
  readonly id: string
  readonly name: string
  /** Unix seconds; 0: the provider does not say. */
  readonly created: number
}
