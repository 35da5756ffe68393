import { type Fields, isFields } from '../../lib/json/fields.ts'
import { isUnknownTool, toolNames, toolsOf } from '../dialects/asked-tools.ts'
import type { Counts, Dimension } from '../dialects/neutral/counts.ts'
import { countAt, fieldsIn } from '../dialects/neutral/disjoint.ts'
import { isLocal, listOf, soldTools } from '../dialects/openai-responses/sold-tools.ts'
import { soldAs } from '../dialects/tool-names.ts'
import type { ToldAnswer } from '../dialects/told-answer.ts'
import { lacksFee } from '../prices/lacks-fee.ts'
import type { ModelPrices } from '../prices/price-usage.ts'
import type { PriceFacts } from '../prices/rates.ts'

interface ToolUseQuery {
  readonly operation: string
  /** A row of the catalogue. */
  readonly provider: string
  /** The parsed body of the request; undefined: it is no JSON. */
  readonly json: unknown
  /** The provider's own usage object. */
  readonly raw: Fields | null
}

/** Adds the calls of tools that stand outside the figures of tokens. */
export function withTools(counts: Counts, told: ToldAnswer, asked: ToolUseQuery): Counts {
  const { operation, provider, json, raw } = asked
  const tools = isFields(json) ? json['tools'] : null
  if (provider === 'google' || provider === 'vertex-ai') return withGrounding(counts, told, tools)
  const shown =
    operation !== 'createModelResponse' || provider === 'anthropic' || told.items.length === 0
      ? counts
      : { ...counts, ...ofSeller(soldTools(told.items, tools), provider) }
  return raw === null ? shown : withTold(shown, raw)
}

/** xAI sells each run of code, and others the container in which it runs. */
function ofSeller(calls: Counts, provider: string): Counts {
  const { code_session: runs, ...others } = calls
  return provider !== 'x-ai' || runs === undefined ? calls : { ...others, code_execution: runs }
}

/** The objects of usage in which xAI and Mistral count the calls of their tools, and the names of those there. */
const toldTools: readonly (readonly [object: string, names: Readonly<Record<string, Dimension>>])[] = [
  [
    'server_side_tool_usage_details',
    {
      web_search_calls: 'web_search',
      x_search_calls: 'x_search',
      code_interpreter_calls: 'code_execution',
      file_search_calls: 'file_search',
      document_search_calls: 'attachment_search',
    },
  ],
  [
    'connectors',
    {
      web_search: 'web_search',
      web_search_premium: 'web_search_high',
      code_interpreter: 'code_execution',
      image_generation: 'image',
    },
  ],
]

/** Adds the calls that a usage object counts by their tools: those that were counted otherwise are not counted twice. */
function withTold(counts: Counts, usage: Fields): Counts {
  let all: Partial<Record<Dimension, number>> | null = null
  for (const [object, names] of toldTools) {
    if (!isFields(usage[object])) continue
    const told = fieldsIn(usage, object)
    all ??= { ...counts }
    for (const [name, sold] of Object.entries(names)) {
      const calls = Math.max(countAt(told, name), all[sold] ?? 0)
      if (calls > 0) all[sold] = calls
    }
  }
  return all ?? counts
}

/** Google's answers name the searches and the places that they rest on. */
function withGrounding(counts: Counts, { searches, restsOnMaps, retrievals }: ToldAnswer, tools: unknown): Counts {
  if (searches === 0 && !restsOnMaps && retrievals === 0) return counts
  const search: Dimension = listOf(tools).some(isEnterprise) ? 'enterprise_web_search' : 'web_search'
  return {
    ...counts,
    ...(restsOnMaps && { maps: 1 }),
    ...(searches > 0 && { [search]: searches }),
    ...(retrievals > 0 && listOf(tools).some(isStore) && { file_search: 1 }),
  }
}

const isEnterprise = (tool: unknown): boolean => isFields(tool) && ('enterpriseWebSearch' in tool || 'enterprise_web_search' in tool)

/** A search in the caller's own data that Vertex AI sells by the request. */
function isStore(tool: unknown): boolean {
  const store = isFields(tool) ? tool['retrieval'] : null
  return isFields(store) && ('vertexAiSearch' in store || 'vertex_ai_search' in store)
}

/** Models that are billed for a prompt that rests on searches, and not for each search. */
const perPrompt = /gemini-(?:1|2)(?:\.|-)/
const searching = ['web_search', 'enterprise_web_search'] as const

/** Returns counts with the searches that are billed: of Gemini up to 2.5 one for each prompt, of later models each. */
export function billedSearches(counts: Counts, model: string | null): Counts {
  const name = searching.find((one) => (counts[one] ?? 0) > 1)
  return name !== undefined && model !== null && perPrompt.test(model) ? { ...counts, [name]: 1 } : counts
}

/** Returns true if a request lets its provider run a tool without a known fee, of which an answer need not tell. */
export function asksUnpricedTool(json: unknown, facts: PriceFacts, found: ModelPrices): boolean {
  if (!isFields(json)) return false
  let asked: Partial<Record<Dimension, number>> | null = null
  for (const tool of toolsOf(json)) {
    if (isUnknownTool(tool)) return true
    if (!isLocal(tool)) for (const name of toolNames(tool)) for (const sold of soldAs(name)) (asked ??= {})[sold] = 1
  }
  return asked !== null && lacksFee(asked, facts, found)
}
