import { ApiError } from '../../lib/errors.ts'
import type { CreatePrompt, UpdatePrompt } from './prompt.schema.ts'
import type { OrderedContent, PromptVersion } from './version.entity.ts'

type Fields = Readonly<Record<string, unknown>>

/** The whole content of a version. */
export interface Content {
  readonly string: string
  readonly parameters: Fields
  readonly virtualKey: string
  readonly model: string | null
  readonly functions: readonly unknown[] | null
  readonly tools: readonly unknown[] | null
  readonly toolChoice: unknown
  readonly isRawTemplate: boolean
  readonly templateMetadata: Fields
  readonly description: string | null
}

/** Returns the JSON of a version, with its keys in the order in which they were sent as far as that is known. */
export const orderedContent = (version: PromptVersion): OrderedContent =>
  version.ordered ?? {
    parameters: version.parameters,
    functions: version.functions ?? null,
    tools: version.tools ?? null,
    tool_choice: version.toolChoice ?? null,
    template_metadata: version.templateMetadata,
  }

/** Returns the part of a new version that is stored as JSON with its keys in order. */
export const toOrdered = ({ parameters, functions, tools, toolChoice, templateMetadata }: Content): OrderedContent => ({
  parameters,
  functions,
  tools,
  tool_choice: toolChoice ?? null,
  template_metadata: templateMetadata,
})

type ContentFields = Omit<UpdatePrompt, 'patch' | 'name' | 'collection_id'>

/** Returns the content of a first version. */
export const contentOf = (body: CreatePrompt): Content => ({
  string: body.string,
  parameters: body.parameters,
  virtualKey: body.virtual_key,
  isRawTemplate: body.is_raw_template ?? false,
  ...optionalContent(body, null),
})

/** Returns the optional content of a version: as given, else empty, or that of the version which is kept. */
function optionalContent(given: ContentFields, kept: PromptVersion | null) {
  const json = kept === null ? null : orderedContent(kept)
  return {
    model: orKept(given.model, kept?.model),
    functions: orKept(given.functions, json?.functions),
    tools: orKept(given.tools, json?.tools),
    toolChoice: orKept<unknown>(given.tool_choice, json?.tool_choice),
    templateMetadata: orKept(given.template_metadata ?? given.prompt_metadata, json?.template_metadata) ?? {},
    description: given.version_description ?? null,
  }
}

/** Null clears; an absent field stays, or is empty when it had no value. */
const orKept = <T>(given: T | null | undefined, kept: T | null | undefined): T | null => (given === undefined ? (kept ?? null) : given)

/**
 * Returns the content of the next version; null when the body names no field of a version. With `patch` everything that is missing comes from
 * the latest version; without it a version is whole, but for the provider and the kind of template, which stay.
 */
export function completed(
  { patch, name: _name, collection_id: _collection, ...given }: UpdatePrompt,
  latest: PromptVersion,
): Content | null {
  if (Object.values(given).every((value) => value === undefined)) return null
  return {
    string: given.string ?? (patch ? latest.string : missing('string')),
    parameters: given.parameters ?? (patch ? orderedContent(latest).parameters : missing('parameters')),
    virtualKey: given.virtual_key ?? latest.virtualKey,
    isRawTemplate: given.is_raw_template ?? latest.isRawTemplate,
    ...optionalContent(given, patch ? latest : null),
  }
}

function missing(param: string): never {
  throw new ApiError(
    'AB01',
    `A new version needs ${param}. Send it, or "patch": true to take the missing fields from the latest version.`,
    {
      param,
    },
  )
}
