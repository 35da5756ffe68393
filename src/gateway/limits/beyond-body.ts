import { isFields, type Fields } from '../../lib/json/fields.ts'
import { toolNames, toolsOf } from '../dialects/asked-tools.ts'
import { sentFields } from '../dialects/sent-fields.ts'
import { isFetchingName } from '../dialects/tool-names.ts'
import { positive } from './output-bound.ts'

/** The fields by which a request names a prompt, a cache or servers at its provider. */
const naming = ['cachedContent', 'cached_content', 'mcp_servers', 'plugins', 'search_parameters', 'connectors'] as const

/** Returns the most tokens that a provider adds to a prompt by itself; Infinity: nobody bounds them; 0: it adds none. */
export function addedTokens(json: unknown): number {
  if (!isFields(json)) return 0
  for (const fields of sentFields(json)) {
    if (naming.some((name) => (fields[name] ?? null) !== null)) return Infinity
    // A template that is kept at the provider.
    if (isFields(fields['prompt'])) return Infinity
  }
  let tokens = 0
  for (const tool of toolsOf(json)) tokens += addedBy(tool)
  return tokens
}

/** The words by which Claude is told of tools, and of its own by the beginnings of their names: platform.claude.com/docs. */
const [ofTools, ofOwnTools] = [346, { bash_: 245, text_editor_: 700, computer_: 735 }] as const

/** Returns the tokens by which Claude is told how to use the tools of a request. */
export function tokensOfToolUse(json: unknown): number {
  const tools = isFields(json) ? toolsOf(json) : []
  let tokens = tools.length === 0 ? 0 : ofTools
  for (const name of tools.flatMap(toolNames))
    for (const [beginning, words] of Object.entries(ofOwnTools)) if (name.startsWith(beginning)) tokens += words
  return tokens
}

function addedBy(tool: Fields): number {
  const names = toolNames(tool)
  if (!names.some(isFetchingName)) return 0
  const [content, uses] = [positive(tool['max_content_tokens']), positive(tool['max_uses'])]
  return content === null || uses === null || !names.some((name) => name.startsWith('web_fetch')) ? Infinity : content * uses
}
