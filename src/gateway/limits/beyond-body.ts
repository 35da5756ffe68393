import { isFields, type Fields } from '../../lib/json/fields.ts'
import { toolNames, toolsOf } from './asked-tools.ts'
import { positive } from './output-bound.ts'

/** The beginnings of the names of tools by which a provider adds to a prompt: pages, files, the answers of servers. */
const fetching: readonly string[] = [
  'web_search',
  'web_fetch',
  'url_context',
  'urlContext',
  'google_search',
  'googleSearch',
  'enterprise_web_search',
  'enterpriseWebSearch',
  'retrieval',
  'file_search',
  'fileSearch',
  'x_search',
  'collections_search',
  'document_library',
  'code_interpreter',
  'code_execution',
  'codeExecution',
  'shell',
  'mcp',
]
/** The fields by which a request names a prompt, a cache or servers at its provider. */
const naming = ['cachedContent', 'cached_content', 'mcp_servers', 'plugins', 'search_parameters', 'connectors'] as const

/** Returns the most tokens that a provider adds to a prompt by itself; Infinity: nobody bounds them; 0: it adds none. */
export function addedTokens(json: unknown): number {
  if (!isFields(json)) return 0
  const { prompt } = json
  if (naming.some((name) => (json[name] ?? null) !== null)) return Infinity
  // A template that is kept at the provider.
  if (isFields(prompt)) return Infinity
  let tokens = 0
  for (const tool of toolsOf(json)) tokens += addedBy(tool)
  return tokens
}

function addedBy(tool: Fields): number {
  const names = toolNames(tool)
  if (!names.some(isFetchingName)) return 0
  const [content, uses] = [positive(tool['max_content_tokens']), positive(tool['max_uses'])]
  return content === null || uses === null || !names.some((name) => name.startsWith('web_fetch')) ? Infinity : content * uses
}

/** Returns true for the name of a tool by which a provider adds to a prompt. */
export const isFetchingName = (name: string): boolean => fetching.some((one) => name.startsWith(one))
