import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { compact } from '../compact.ts'
import type { NeutralRequest, VendorTool } from '../neutral/request.ts'
import { fieldsIn, listIn, textIn } from '../reading.ts'

/** A request without its search in the web, which is a tool of Anthropic's too. */
interface SearchRequest {
  readonly request: NeutralRequest
  /** Null: none is asked for. */
  readonly search: Fields | null
}

/** The search of OpenAI's responses, in all its versions. */
const searches = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/

const isSearch = (tool: NeutralRequest['tools'][number]): tool is VendorTool =>
  tool.kind === 'vendor' && tool.dialect === 'openai-responses' && searches.test(tool.type)

/** Takes the search in the web out of the tools. On Bedrock there is none, so that it is refused there as any other tool of a vendor. */
export function takeSearch(request: NeutralRequest, context: EncodeContext): SearchRequest {
  const found = context.traits.host === 'bedrock' ? undefined : request.tools.find(isSearch)
  if (found === undefined) return { request, search: null }
  return { request: { ...request, tools: request.tools.filter((tool) => !isSearch(tool)) }, search: writeSearch(found, context) }
}

/**
 * Returns a request in which the search that a chat asks for is the tool that responses ask for. Where there is no search it stays, and is refused
 * as a wish that has no counterpart.
 */
export function withSearchAsTool(request: NeutralRequest, { traits }: EncodeContext): NeutralRequest {
  const chat = request.bag['openai-chat']
  const options = chat?.['web_search_options']
  if (chat === undefined || !isFields(options) || traits.host === 'bedrock') return request
  const { web_search_options: _options, ...rest } = chat
  const tool: VendorTool = {
    kind: 'vendor',
    dialect: 'openai-responses',
    type: 'web_search',
    raw: searchOfChat(options),
    at: 'web_search_options',
  }
  return { ...request, bag: { ...request.bag, 'openai-chat': rest }, tools: [...request.tools, tool] }
}

/** Returns the search that a chat asks for in the words of responses, which have the place without an object of its own. */
export function searchOfChat(options: Fields): Fields {
  const place = fieldsIn(options, 'user_location', 'web_search_options.')
  const near = place === null ? null : (fieldsIn(place, 'approximate', 'web_search_options.user_location.') ?? place)
  return compact({ ...options, type: 'web_search', user_location: near === null ? null : { ...near, type: 'approximate' } })
}

const known: ReadonlySet<string> = new Set(['type', 'filters', 'user_location'])

/** docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-search-tool. Null: the caller wants to search in its vendor's stores, and not in the web. */
function writeSearch({ raw, at }: VendorTool, { loss }: EncodeContext): Fields | null {
  if (raw['external_web_access'] === false) {
    loss.dropAt(at, 'searches in the stores of its own vendor')
    return null
  }
  for (const name of Object.keys(raw)) if (!known.has(name) && raw[name] !== null && raw[name] !== true) loss.dropAt(`${at}.${name}`)
  const filters = fieldsIn(raw, 'filters', `${at}.`) ?? {}
  const place = fieldsIn(raw, 'user_location', `${at}.`)
  const [allowed, blocked] = [listIn(filters, 'allowed_domains'), listIn(filters, 'blocked_domains')]
  return compact({
    type: 'web_search_20250305',
    name: 'web_search',
    allowed_domains: allowed.length === 0 ? null : allowed,
    blocked_domains: blocked.length === 0 ? null : blocked,
    user_location: place === null ? null : placeOf(place),
  })
}

const placeOf = (place: Fields): Fields =>
  compact({
    type: 'approximate',
    city: textIn(place, 'city'),
    region: textIn(place, 'region'),
    country: textIn(place, 'country'),
    timezone: textIn(place, 'timezone'),
  })
