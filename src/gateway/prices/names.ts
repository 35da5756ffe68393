import { createLru } from '../../lib/collections/lru.ts'

/** A name under which a model may stand in a price list. */
export interface ModelName {
  /** The provider whose list it is: one may sell the models of another. */
  readonly provider: string
  readonly model: string
  /** The geography in the name itself, as Bedrock's inference profiles have it. */
  readonly geo: string | null
  readonly region: string | null
  /** True if a date or a version was taken off the name. */
  readonly family: boolean
}

type Place = Pick<ModelName, 'geo' | 'region'>
/** Turns a provider's name into that of the price list; null: no list can have it. */
type Rule = (model: string) => ({ readonly model: string } & Partial<Place>) | null

const nowhere: Place = { geo: null, region: null }
const same: Rule = (model) => ({ model })

/** Bedrock: the prefix of an inference profile is a geography, `eu-central-1/` a region; an ARN names the model last, or hides it. */
const bedrock: Rule = (named) => {
  const arn = /^arn:[^:]*:bedrock:([^:]*):[^:]*:([^/]+)\/(.+)$/.exec(named)
  if (arn !== null && arn[2] !== 'foundation-model' && arn[2] !== 'inference-profile') return null
  const region = arn === null ? first(/^([a-z]{2}(?:-[a-z]+)+-\d)\//, named) : (arn[1] ?? '')
  const last = named.slice(named.lastIndexOf('/') + 1)
  const geo = first(/^(us-gov|us|eu|apac|jp|au|ca|sa|in|global)\./, last)
  return { model: geo === null ? last : last.slice(geo.length + 1), geo: geo ?? 'in-region', region: region === '' ? null : region }
}

const first = (pattern: RegExp, text: string): string | null => pattern.exec(text)?.[1] ?? null

/** Fine-tunes of OpenAI stand as `ft:<base>`: inference has rates of its own. */
const openai: Rule = (model) => ({ model: model.startsWith('ft:') ? model.split(':', 2).join(':') : model })

const azure: Rule = (named) => {
  const place = /^(eu|us|global)\//.exec(named)?.[1] ?? null
  const model = (place === null ? named : named.slice(place.length + 1)).replace(/\.ft-.*$/s, '')
  return { model, ...(place === null || place === 'global' ? {} : { geo: place }) }
}

const google: Rule = (model) => (model.startsWith('tunedModels/') ? null : { model: model.replace(/^models\//, '') })
const vertex: Rule = (model) =>
  /^\d+$/.test(model) ? null : { model: model.replace(/^(?:.*\/)?(?:publishers\/[^/]+\/models\/|[^/]+\/)/, '') }

const fireworks: Rule = (model) => {
  const bare = model.replace(/^accounts\/fireworks\/models\//, '')
  return bare.startsWith('accounts/') ? null : { model: bare }
}

/** Deployments, presets and routing suffixes of OpenRouter; `:free` is a model of its own. */
const openrouter: Rule = (model) => ({ model: model.replace(/@preset\/.*$/s, '').replace(/:(?:nitro|floor|online|batch)$/, '') })

const rules: Readonly<Record<string, Rule>> = {
  bedrock,
  openai,
  'azure-openai': azure,
  'azure-ai': azure,
  google,
  'vertex-ai': vertex,
  'fireworks-ai': fireworks,
  openrouter,
}

/** The providers whose price lists are read next, for a model that the first one does not list. */
const others: Readonly<Record<string, readonly string[]>> = {
  'azure-openai': ['openai'],
  'azure-ai': ['azure-openai', 'anthropic'],
  'vertex-ai': ['google', 'anthropic'],
}

/** Ends of names with a version of the same model: `-2025-08-07`, `-20250929`, `@20250929`, `@default`, `-v1:0`. */
const versionEnd = /(?:-\d{4}-\d{2}-\d{2}|-\d{8}|@\d{8}|@default|-v\d+:\d+)$/

/**
 * Returns the names under which a model is looked for, in order: as it is, by the provider's rule, without its version. Never a part of the name: a
 * price of a similar model would be wrong unnoticed.
 */
export function namesOf(provider: string, asked: string): readonly ModelName[] {
  const key = `${provider} ${asked}`
  const held = kept.get(key)
  if (held !== undefined) return held
  const names = makeNames(provider, asked)
  if (asked.length <= longestKept) kept.set(key, names)
  return names
}

/** Few models are asked for again and again. Bounded, because names come from outside. */
const kept = createLru<readonly ModelName[]>(2000)
const longestKept = 200

function makeNames(provider: string, asked: string): readonly ModelName[] {
  const named = (rules[provider] ?? same)(asked)
  if (named === null) return []
  const place = { ...nowhere, ...named }
  const own = withPrefix(provider, place.model)
  const spellings = own.flatMap((model) => spellingsOf(provider, model))
  const lists = [provider, ...(others[provider] ?? [])]
  const { geo, region } = place
  const families = spellings.flatMap(withoutVersion)
  return lists.flatMap((list) => {
    const found = (models: readonly string[], family: boolean) => models.map((model) => ({ provider: list, model, geo, region, family }))
    return found(spellings, false).concat(found(families, true))
  })
}

/** `openai/gpt-oss-120b` is a whole name at some providers, and at OpenAI a prefix that names itself. */
const withPrefix = (provider: string, model: string): readonly string[] =>
  model.startsWith(`${provider}/`) ? [model, model.slice(provider.length + 1)] : [model]

const spellingsOf = (provider: string, model: string): readonly string[] =>
  provider.startsWith('azure') && model.includes('gpt-35-') ? [model, model.replace('gpt-35-', 'gpt-3.5-')] : [model]

/** A name can end in both a date and a version. */
function withoutVersion(model: string): readonly string[] {
  const bare = model.replace(versionEnd, '')
  return bare === model ? [] : [bare, ...withoutVersion(bare)]
}
