import { isFields } from '../../lib/json/fields.ts'
import type { JsonEdit } from '../../lib/json/json-edit.ts'
import { editBody } from '../wire/edit-body.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { RequestBody } from '../wire/body.ts'

/** The name that a format has for the most tokens of an answer. */
const fieldOf: Readonly<Partial<Record<DialectId, string>>> = {
  'openai-chat': 'max_tokens',
  completions: 'max_tokens',
  'openai-responses': 'max_output_tokens',
  anthropic: 'max_tokens',
}

/** The chat of these supports the newer name alone for models that reason. */
const newerNames: ReadonlySet<string> = new Set(['openai', 'azure-openai'])

/** Returns the body with the most tokens of its answer. Formats that name no such field stay as they are. */
export function boundOutput(
  body: RequestBody,
  most: number,
  { dialect, providerId }: { readonly dialect: DialectId | null; readonly providerId: string },
): RequestBody {
  const edit = dialect === null ? null : editOf(body.json, most, { dialect, providerId })
  return edit === null ? body : editBody(body, [edit])
}

function editOf(json: unknown, most: number, { dialect, providerId }: { dialect: DialectId; providerId: string }): JsonEdit | null {
  if (!isFields(json)) return null
  if (dialect === 'google') {
    const settings = json['generationConfig']
    return { path: ['generationConfig'], value: { ...(isFields(settings) ? settings : {}), maxOutputTokens: most } }
  }
  const name = dialect === 'openai-chat' && newerNames.has(providerId) ? 'max_completion_tokens' : fieldOf[dialect]
  return name === undefined ? null : { path: [name], value: most }
}
