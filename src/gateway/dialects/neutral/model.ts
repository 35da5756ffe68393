/** A model that a caller may ask for. */
export interface OfferedModel {
  /** `@slug/model` */
  readonly id: string
  readonly name: string
  /** Unix seconds; 0: not known. */
  readonly created: number
  /** A row of the catalogue. */
  readonly provider: string
  /** `catalogue`: the provider's own list could not be fetched, so that the model stands for those that it had when this release was made. */
  readonly listedBy: 'provider' | 'catalogue'
  readonly details: ModelDetails
}

/** The limits, abilities and prices of a model. Null: not known. */
export interface ModelDetails {
  /** `chat`, `embedding` … */
  readonly kind: string | null
  /** The window in tokens. */
  readonly contextWindow: number | null
  readonly maxInput: number | null
  readonly maxOutput: number | null
  /** `text`, `image`, `audio` … */
  readonly input: readonly string[] | null
  readonly output: readonly string[] | null
  /** `tools`, `reasoning`, `json_schema` … */
  readonly abilities: readonly string[] | null
  /** The name under which the prices stand in their list. */
  readonly pricedAs: string | null
  /** `source`: the layer of price lists that has them, or the integration. */
  readonly prices: (WrittenPrices & { readonly source: string }) | null
}

/** Prices in US dollars, by the dimensions of prices. */
export interface WrittenPrices {
  readonly currency: 'USD'
  readonly per_million_tokens: Readonly<Record<string, number>>
  readonly per_unit?: Readonly<Record<string, number>>
}

/** A model as its provider lists it. */
export interface ListedModel {
  readonly id: string
  readonly name: string
  /** Unix seconds; 0: the provider does not state them. */
  readonly created: number
}
