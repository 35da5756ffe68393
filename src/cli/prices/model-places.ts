import type { Fields } from '../../lib/json/fields.ts'

/** The name of a model, and the place that the name contains. */
export interface PlacedName {
  readonly model: string
  readonly condition: Fields
  /** True for the name of a profile that serves worldwide: its rates are those of the model. */
  readonly isGlobal: boolean
}

const bedrockNames = (named: string): PlacedName => {
  const [, region, rest = named] = /^([a-z]{2}(?:-gov)?-[a-z]+-\d)\/(?:invoke\/)?(.+)$/.exec(named) ?? []
  const [, geo, model = rest] = /^(us-gov|us|eu|apac|jp|au|global|ca|sa|in)\.(.+)$/.exec(rest) ?? []
  const condition = {
    ...(region === undefined ? {} : { region: [region] }),
    ...(geo === undefined || geo === 'global' ? {} : { geo: [geo] }),
  }
  return { model, condition, isGlobal: geo === 'global' }
}

const azureNames = (named: string): PlacedName => {
  const [, geo, placed] = /^(us|eu|apac|us-gov)\/(.+)$/.exec(named) ?? []
  if (geo !== undefined && placed !== undefined) return { model: placed, condition: { geo: [geo] }, isGlobal: false }
  const [, model] = /^(?:global-standard|global|standard)\/(.+)$/.exec(named) ?? []
  return { model: model ?? named, condition: {}, isGlobal: false }
}

const places: Readonly<Record<string, (named: string) => PlacedName>> = {
  bedrock: bedrockNames,
  'bedrock-mantle': bedrockNames,
  'azure-openai': azureNames,
  'azure-ai': azureNames,
  'fireworks-ai': (named) => anywhere(named.replace(/^accounts\/fireworks\/models\//, '')),
  google: (named) => anywhere(named.replace(/^models\//, '')),
}

const anywhere = (model: string): PlacedName => ({ model, condition: {}, isGlobal: false })

/** Takes the place off the name of a model, as the look-up of prices does. */
export const placedName = (provider: string, named: string): PlacedName => (places[provider] ?? anywhere)(named)
