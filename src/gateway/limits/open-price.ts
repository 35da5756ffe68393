import { isFields, type Fields } from '../../lib/json/fields.ts'
import { listOf } from '../dialects/openai-responses/sold-tools.ts'
import { isUnknownTool, toolsOf } from '../dialects/asked-tools.ts'
import { sentFields } from '../dialects/sent-fields.ts'

/** Models that work in rounds of their own: no field bounds how much they read, think and search. */
const agents = /deep-research|deepsearch|multi-agent|sonar-pro-search/i
/** Models that hand a request on to any other, at its price. */
const routers = /(?:^|\/)(?:auto|model-router|model-optimizer[\w-]*)$/
/** Parts of a model's name that add a search, choose a dearer host, or stand for settings at the provider: openrouter.ai/docs. */
const additions = /:(?:online|nitro)$|@preset\//

/** Returns true for a model for which no field of a request bounds the cost. */
export const isOpenModel = (model: string): boolean => agents.test(model) || routers.test(model) || additions.test(model)

/** Returns true for a request that has more done than its tokens and known tools: nobody knows its cost before it is answered. */
export function hasOpenPrice(json: Fields): boolean {
  for (const fields of sentFields(json)) if (sellsMore(fields)) return true
  return toolsOf(json).some(isUnknownTool)
}

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
