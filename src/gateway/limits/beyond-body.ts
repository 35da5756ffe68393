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

function addedBy(tool: Fields): number {
  const names = toolNames(tool)
  if (!names.some(isFetchingName)) return 0
  const [content, uses] = [positive(tool['max_content_tokens']), positive(tool['max_uses'])]
  return content === null || uses === null || !names.some((name) => name.startsWith('web_fetch')) ? Infinity : content * uses
}
