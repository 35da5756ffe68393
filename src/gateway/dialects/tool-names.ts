import type { Dimension } from './neutral/counts.ts'

/** The tools that providers run themselves and sell by the call, by the beginnings of their names in all formats. */
const soldTools: readonly (readonly [name: string, sold: Dimension])[] = [
  ['web_search', 'web_search'],
  ['google_search', 'web_search'],
  ['googleSearch', 'web_search'],
  ['enterprise_web_search', 'enterprise_web_search'],
  ['enterpriseWebSearch', 'enterprise_web_search'],
  ['google_maps', 'maps'],
  ['googleMaps', 'maps'],
  ['file_search', 'file_search'],
  ['x_search', 'x_search'],
  ['web_search_premium', 'web_search_high'],
  ['collections_search', 'file_search'],
  ['retrieval', 'file_search'],
  // Sold by the container or by the call.
  ['code_interpreter', 'code_session'],
  ['code_interpreter', 'code_execution'],
  ['shell', 'code_session'],
  ['image_generation', 'image'],
  ['code_execution', 'code_execution'],
  ['codeExecution', 'code_execution'],
]

/** Returns the ways in which a tool of this name is sold; empty: it is not. */
export const soldAs = (named: string): readonly Dimension[] =>
  named === 'function' ? none : soldTools.flatMap(([name, sold]) => (named.startsWith(name) ? [sold] : none))
const none: readonly Dimension[] = []

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
/** Returns true for the name of a tool by which a provider adds to a prompt. */
export const isFetchingName = (name: string): boolean => fetching.some((one) => name.startsWith(one))

/** Tools that the caller runs, and the groups of such: they cost no more than the tokens in the body. */
const ownNames: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'tool_search',
  'local_shell',
  'apply_patch',
  'toolSpec',
  'cachePoint',
  'functionDeclarations',
  'function_declarations',
])
/** The same with a date or a variant at the end. */
const ownBeginnings: readonly string[] = ['computer', 'bash_', 'text_editor_', 'memory_', 'tool_search_tool_']

export const isOwnName = (name: string): boolean => ownNames.has(name) || ownBeginnings.some((beginning) => name.startsWith(beginning))
