import { ApiError } from '../../lib/errors.ts'
import { refuseNested, toChatBody, type Fields } from './chat-body.ts'
import { linkPartials, type LinkedPartials, type ReadPartials } from './partials.ts'
import { compilePrompt, renderMessages, templatesIn, type PromptTemplate } from './prompt-template.ts'

/** A version of a prompt as it is stored. */
export interface StoredPrompt {
  readonly id: string
  readonly slug: string
  readonly organisationId: string
  readonly workspaceId: string
  readonly versionId: string
  readonly version: number
  readonly string: string
  readonly isRaw: boolean
  /** The slug of a provider or virtual key of the workspace. */
  readonly virtualKey: string
  readonly model: string | null
  readonly parameters: Fields
  readonly functions: readonly unknown[] | null
  readonly tools: readonly unknown[] | null
  readonly toolChoice: unknown
  readonly templateMetadata: Fields
}

/** A version of a prompt, with everything that rendering it takes. */
export interface Prompt extends Pick<
  StoredPrompt,
  'id' | 'slug' | 'organisationId' | 'workspaceId' | 'versionId' | 'version' | 'virtualKey'
> {
  readonly template: PromptTemplate
  readonly linked: LinkedPartials
  /** Its parameters, model and tools, under the names of a chat completion. */
  readonly fields: Fields
}

/** Compiles a stored prompt and its partials. Throws `invalid_request` for a template that cannot be rendered. */
export async function openPrompt(stored: StoredPrompt, read: ReadPartials): Promise<Prompt> {
  const { id, slug, organisationId, workspaceId, versionId, version, virtualKey } = stored
  const template = compilePrompt({ string: stored.string, isRaw: stored.isRaw, jsonVariables: jsonVariables(stored.templateMetadata) })
  const linked = await linkPartials(templatesIn(template), read)
  return { id, slug, organisationId, workspaceId, versionId, version, virtualKey, template, linked, fields: fieldsOf(stored) }
}

/** The variables that a raw template may take as JSON. */
export function jsonVariables({ json_variables: names }: Fields): readonly string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

function fieldsOf({ parameters, model, functions, tools, toolChoice }: StoredPrompt): Fields {
  return {
    ...parameters,
    ...(model !== null && { model }),
    ...(functions !== null && { functions }),
    ...(tools !== null && { tools }),
    ...(toolChoice !== null && { tool_choice: toolChoice }),
  }
}

/** The chat completion that a prompt makes of a request. Throws `invalid_request`, naming partials that are missing among others. */
export function renderPrompt({ template, linked, fields }: Prompt, request: Fields): Record<string, unknown> {
  refuseNested(request)
  if (linked.missing.length > 0)
    throw new ApiError('invalid_request', `Missing prompt partials: ${linked.missing.join(', ')}.`, { param: 'string' })
  return toChatBody(fields, renderMessages(template, request['variables'], linked.partials), request)
}
