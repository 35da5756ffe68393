import { isFields, type Fields } from '../../lib/json/fields.ts'
import { type Counts, type Dimension, isDimension } from '../dialects/neutral/counts.ts'
import { listOf } from '../dialects/openai-responses/sold-tools.ts'
import { priceAmount } from '../prices/price-usage.ts'
import type { PriceFacts } from '../prices/rates.ts'
import type { FoundPrices } from '../prices/resolve.ts'
import { isOwnName, isOwnTool, toolNames, toolsOf } from './asked-tools.ts'
import { isFetchingName } from './beyond-body.ts'
import { withOptions } from './output-bound.ts'
import { isSoldName } from './sold-calls.ts'

/** Models that work in rounds of their own: no field bounds how much they read, think and search. */
const agents = /deep-?(?:re)?search|multi-agent|sonar-pro-search/i
/** Parts of a model's name that add a search, choose a dearer host, or stand for settings at the provider: openrouter.ai/docs. */
const additions = /:(?:online|nitro)$|@preset\//

/** Returns true for a model for which no field of a request bounds the cost. */
export const isOpenModel = (model: string): boolean => agents.test(model) || additions.test(model)

/** Objects that hold fields of a request at some providers. */
const holders = ['parameters', 'extra_body', 'additionalModelRequestFields'] as const

/** Returns true for a request that has more done than its tokens and known tools: nobody knows its cost before it is answered. */
export function hasOpenPrice(json: Fields): boolean {
  for (const fields of withOptions(json)) if (sellsMore(fields)) return true
  for (const holder of holders) {
    const held = json[holder]
    if (isFields(held) && sellsMore(held)) return true
  }
  return toolsOf(json).some(isUnknownTool)
}

/** A tool that no table has may sell anything, such as the work of another model. */
function isUnknownTool(tool: Fields): boolean {
  if (isOwnTool(tool)) return false
  const isTyped = typeof tool['type'] === 'string'
  return toolNames(tool).some((name) => (isTyped || isGiven(tool[name])) && !isKnownName(name))
}

const isKnownName = (name: string): boolean => isOwnName(name) || isSoldName(name) || isFetchingName(name)

const isGiven = (held: unknown): boolean =>
  held !== null && held !== undefined && held !== false && held !== '' && (!Array.isArray(held) || held.length > 0)

/**
 * The fields by which a provider does more work than the body shows. They count at every provider, since a host of one's own may lead on to any
 * of them. All other fields leave the price as it is.
 */
const selling: Readonly<Record<string, (held: unknown) => boolean>> = {
  // Settings with a model, tools and instructions that are kept at the provider: platform.openai.com/docs/guides/prompting, openrouter.ai/docs, docs.perplexity.ai
  prompt: isFields,
  preset: isGiven,
  agent: isGiven,
  agent_id: isGiven,
  agent_reference: isGiven,
  // Other models that answer after the first, whose work is charged too: platform.claude.com/docs, docs.litellm.ai
  fallbacks: isGiven,
  // openrouter.ai/docs/features/web-search
  plugins: (held) => listOf(held).some((plugin) => !isFields(plugin) || (plugin['enabled'] !== false && !freePlugins.has(plugin['id']))),
  provider: choosesHost,
  providerOptions: (held) =>
    isFields(held) && isFields(held['gateway']) && (choosesHost(held['gateway']) || isGiven(held['gateway']['models'])),
  // learn.microsoft.com/azure/ai-services/openai/concepts/use-your-data
  data_sources: isGiven,
  dataSources: isGiven,
  // help.aliyun.com/zh/model-studio/web-search
  enable_search: isGiven,
  // docs.perplexity.ai/docs/sonar/pro-search
  web_search_options: (held) => isFields(held) && isGiven(held['search_type']) && held['search_type'] !== 'fast',
  // The conversation is made shorter by the model, which reads it once more.
  context_management: (held) => (isFields(held) ? listOf(held['edits']) : listOf(held)).some(isCompaction),
}

const freePlugins: ReadonlySet<unknown> = new Set(['response-healing'])

/** Returns true if a request chooses the host of its model: one may be far dearer than the price of the list. */
function choosesHost(held: unknown): boolean {
  return isFields(held) && (isGiven(held['order']) || isGiven(held['only']) || (isGiven(held['sort']) && held['sort'] !== 'price'))
}

const isCompaction = (edit: unknown): boolean => isFields(edit) && String(edit['type']).startsWith('compact')

function sellsMore(fields: Fields): boolean {
  for (const name in selling) if (Object.hasOwn(fields, name) && selling[name]?.(fields[name]) === true) return true
  return false
}

/** Sold by the container at some providers, and by the call at others: one rate is enough. */
const codeDimensions: ReadonlySet<string> = new Set<Dimension>(['code_session', 'code_execution'])
/** Images have the price of the model that draws them. */
const drawn: Dimension = 'image'

/** Returns true if a tool that a request may call has no known fee. */
export function lacksFee(calls: Counts, facts: PriceFacts, found: FoundPrices): boolean {
  const names = Object.keys(calls)
    .filter(isDimension)
    .filter((name) => name !== drawn && (calls[name] ?? 0) > 0)
  const isPriced = (name: Dimension): boolean => found.entry.free !== true && priceAmount({ counts: { [name]: 1 }, facts }, found) !== null
  return names.some((name) => !(codeDimensions.has(name) ? names.some((one) => codeDimensions.has(one) && isPriced(one)) : isPriced(name)))
}
