import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import { soldItems, soldTools } from '../dialects/openai-responses/sold-tools.ts'

/** The first and the last bytes of an answer. */
export interface Bytes {
  readonly head: Buffer
  readonly tail: Buffer
}

interface Asked {
  readonly operation: string
  /** A row of the catalogue. */
  readonly provider: string
}

/** Adds the calls of tools that an answer shows outside its usage object. */
export function withTools(counts: Counts, bytes: Bytes, request: Asked): Counts {
  return request.provider === 'google' || request.provider === 'vertex-ai'
    ? withGrounding(counts, bytes)
    : withItems(counts, bytes, request)
}

const queriesKey = '"webSearchQueries"'

/** Google's answers name the searches and the places that they rest on; of a stream the last chunk does. */
function withGrounding(counts: Counts, { tail }: Bytes): Counts {
  const chunks = tail.lastIndexOf('"groundingChunks"')
  const restsOnMaps = chunks !== -1 && /"maps"\s*:\s*\{/.test(tail.toString('latin1', chunks))
  return withSearches(restsOnMaps ? { ...counts, maps: 1 } : counts, tail)
}

function withSearches(counts: Counts, tail: Buffer): Counts {
  const at = tail.lastIndexOf(queriesKey)
  if (at === -1) return counts
  const [, list] = /^\s*:\s*(\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])/.exec(tail.toString('utf8', at + queriesKey.length)) ?? []
  const queries: unknown = list === undefined ? null : jsonOrUndefined(list)
  return Array.isArray(queries) && queries.length > 0 ? { ...counts, web_search: queries.length } : counts
}

/** Models that are billed for a prompt that rests on searches, and not for each search. */
const perPrompt = /gemini-(?:1|2)(?:\.|-)/

/** Returns counts with the searches that are billed: of Gemini up to 2.5 one for each prompt, of later models each. */
export const billedSearches = (counts: Counts, model: string | null): Counts =>
  (counts.web_search ?? 0) > 1 && model !== null && perPrompt.test(model) ? { ...counts, web_search: 1 } : counts

function withItems(counts: Counts, { head, tail }: Bytes, { operation, provider }: Asked): Counts {
  if (operation !== 'createModelResponse' || provider === 'anthropic') return counts
  const named = types.filter((type) => head.includes(type) || (tail !== head && tail.includes(type)))
  if (named.length === 0) return counts
  const items = new Map<unknown, Fields>()
  // What a stream says of an item later is more than what it said before.
  for (const bytes of tail === head ? [head] : [head, tail])
    for (const item of itemsIn(bytes.toString('latin1'), named)) items.set(item['id'] ?? item, item)
  return { ...counts, ...soldTools([...items.values()]) }
}

const types = Object.keys(soldItems)

/** Reads the items of the types from an answer, in the order in which they stand; of one that is not whole no more than its name. */
function itemsIn(answer: string, named: readonly string[]): readonly Fields[] {
  const places = new RegExp(`(?<!\\\\)"type"\\s*:\\s*"(${named.join('|')})"`, 'g')
  return [...answer.matchAll(places)].map(({ index, 1: type }) => {
    const start = openingBrace(answer, index)
    const end = closingBrace(answer, start)
    const item = end === -1 ? null : jsonOrUndefined(answer.slice(start, end + 1))
    if (isFields(item)) return item
    const [, id] = /"id"\s*:\s*"([^"]+)"/.exec(answer.slice(start, index + longestName)) ?? []
    return { type, id }
  })
}

/** Characters within which the name of an item stands beside its type. */
const longestName = 200
/** Characters of the longest item that is read. */
const longestItem = 64 * 1024

/** Returns where the object begins in which a place is. */
function openingBrace(text: string, place: number): number {
  let depth = 0
  for (let at = place - 1; at >= 0 && at > place - longestItem; at -= 1) {
    if (text[at] === '}') depth += 1
    else if (text[at] === '{') {
      if (depth === 0) return at
      depth -= 1
    }
  }
  return place
}

/** Returns where the object ends that begins at a place; -1: it does not. */
function closingBrace(text: string, start: number): number {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length && at < start + longestItem; at += 1) {
    const character = text[at]
    if (quoted && character === '\\') at += 1
    else if (character === '"') quoted = !quoted
    else if (!quoted && character === '{') depth += 1
    else if (!quoted && character === '}' && (depth -= 1) === 0) return at
  }
  return -1
}
