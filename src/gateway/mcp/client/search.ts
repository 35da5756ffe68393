import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { exactJson } from '../../../lib/json/exact-json.ts'
import { longTurns } from '../../../lib/shares/long-turns.ts'
import { countTokens } from '../../tokens/tokenizer.ts'
import { listBounds } from '../protocol/capabilities.ts'
import { mcpFault } from '../protocol/faults.ts'
import type { RpcAnswer, RpcCall } from '../protocol/messages.ts'
import type { McpHead } from './caller.ts'
import { shownItems } from './rights.ts'

/** The two tools of a server whose tools are found by search: their definitions are all that a model has in its context. */
export const findTool = 'gatehouse_find_tools'
export const callTool = 'gatehouse_call_tool'

const usualFinds = 10
const mostFinds = 50
const longestQuery = 1000
/** A query for more words finds the same as its first ones. */
const mostWanted = 32

const searchTools: readonly Fields[] = [
  {
    name: findTool,
    title: 'Find tools',
    description: `Finds tools of this server by words for the task. The result has their names, descriptions and input schemas; ${callTool} calls them.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          maxLength: longestQuery,
          description: `Words for the task, of which the first ${mostWanted} count; empty for the first tools by name.`,
        },
        limit: { type: 'integer', minimum: 1, maximum: mostFinds, default: usualFinds },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: callTool,
    title: 'Call a tool',
    description: `Calls a tool of this server by the name that ${findTool} gave.`,
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'The name of the tool.' },
        arguments: { type: 'object', description: 'The arguments of the tool, by its input schema.' },
      },
      required: ['name'],
    },
  },
]

const searchTokens = countTokens(JSON.stringify(searchTools))

const isSearched = ({ server }: Pick<McpHead, 'server'>): boolean => server.discovery === 'search'

/**
 * Returns the call that a request stands for: the call of a tool by `gatehouse_call_tool` is that of the tool itself, for rights, prices, limits, guardrails
 * and logs alike.
 */
export function meantCall(head: Pick<McpHead, 'server'>, call: RpcCall): RpcCall {
  const { name, arguments: given } = call.params
  if (!isSearched(head) || call.method !== 'tools/call' || name !== callTool || !isFields(given)) return call
  const { name: inner, arguments: args } = given
  if (typeof inner !== 'string' || (args !== undefined && !isFields(args))) return call
  return { method: call.method, params: { ...call.params, name: inner, arguments: args ?? {} } }
}

/** Returns whether a call is one of the search itself, which no server is asked for and which is free. */
export const isOfSearch = (head: Pick<McpHead, 'server'>, { method, params: { name } }: RpcCall): boolean =>
  isSearched(head) && method === 'tools/call' && (name === findTool || name === callTool)

/** Returns the list of the tools of a searched server, and the tokens that it saves. */
export function searchList({ server, caller }: Pick<McpHead, 'server' | 'caller'>): { readonly answer: RpcAnswer; readonly saved: number } {
  const full = server.toolTokens(caller.key)
  const saved = Math.max(0, full - searchTokens)
  return { answer: { result: { tools: searchTools, _meta: { 'gatehouse/tokens': { full, listed: searchTokens } } } }, saved }
}

/** Answers a call of the search. `list`: reads all tools of the server. */
export async function callSearch(
  head: Pick<McpHead, 'server' | 'caller' | 'exchange'>,
  { params }: RpcCall,
  list: () => Promise<readonly Fields[]>,
): Promise<RpcAnswer> {
  const given = isFields(params['arguments']) ? params['arguments'] : {}
  if (params['name'] === callTool)
    throw refused(
      typeof given['name'] === 'string' ? 'arguments.arguments' : 'arguments.name',
      'is the name of a tool, with its arguments in an object',
    )
  const { query, limit = usualFinds } = given
  if (typeof query !== 'string' || query.length > longestQuery)
    throw refused('arguments.query', `is a text of at most ${longestQuery} characters`)
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > mostFinds)
    throw refused('arguments.limit', `is a whole number from 1 to ${mostFinds}`)
  const tools = await shownItems(head, 'tool', await list())
  const found = (await bestOf(tools, query, head.caller.key.organisationId)).slice(0, limit)
  return {
    result: { content: [{ type: 'text', text: exactJson({ tools: found }) }], structuredContent: { tools: found, total: tools.length } },
  }
}

const refused = (param: string, is: string) =>
  mcpFault('refusedParams', `params.${param} must be there: it ${is}.`, { param: `params.${param}` })

/** A word in the name says more than one in the description. */
const weights = { name: 8, title: 4, description: 1 } as const

interface WeighedTool {
  readonly tool: Fields
  readonly name: string
  readonly weight: number
}

/** Returns the tools that have words of a query, the best first; those with equal weights by name. Takes turns: a server may have many long descriptions. */
async function bestOf(tools: readonly Fields[], query: string, owner: string): Promise<readonly Fields[]> {
  const wanted = wantedWords(query)
  const weighed: WeighedTool[] = []
  for (let at = 0; at < tools.length; at += toolsInStep) {
    const step = tools.slice(at, at + toolsInStep)
    if (wanted.words.size > 0 && tools.length > toolsInStep) await longTurns.before(owner, toolsInStep * listBounds.descriptionBytes)
    for (const tool of step) weighed.push({ tool, name: String(tool['name']), weight: weightOf(tool, wanted) })
  }
  const kept = wanted.words.size === 0 ? weighed : weighed.filter(({ weight }) => weight > 0)
  return kept.toSorted((one, other) => other.weight - one.weight || (one.name < other.name ? -1 : 1)).map(({ tool }) => tool)
}

/** So many tools are read in one step. */
const toolsInStep = 50

/** The words of a query, and the lengths of those that may be the beginning of a longer word. */
interface WantedWords {
  readonly words: ReadonlySet<string>
  readonly beginnings: readonly number[]
}

/** A shorter word is the beginning of too many others. */
const shortestBeginning = 4

function wantedWords(query: string): WantedWords {
  const found = new Set([...new Set(words(query))].slice(0, mostWanted))
  const lengths = new Set([...found].map(({ length }) => length).filter((length) => length >= shortestBeginning))
  return { words: found, beginnings: [...lengths].toSorted((one, other) => one - other) }
}

function weightOf(tool: Fields, wanted: WantedWords): number {
  let weight = 0
  for (const [field, each] of Object.entries(weights)) weight += each * countOf(typeof tool[field] === 'string' ? tool[field] : '', wanted)
  return weight
}

/** Returns how many of the words that are wanted a text has: each of its words is looked up, in time in proportion to its letters. */
function countOf(text: string, wanted: WantedWords): number {
  const found = new Set<string>()
  for (const word of new Set(words(text))) {
    if (wanted.words.has(word)) found.add(word)
    for (const length of wanted.beginnings) {
      if (length >= word.length) break
      const beginning = word.slice(0, length)
      if (wanted.words.has(beginning)) found.add(beginning)
    }
  }
  return found.size
}

/** The words of a name or a text; `searchIssues` and `search_issues` have the same. */
const words = (text: string): readonly string[] =>
  text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []
