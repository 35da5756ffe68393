import { z } from 'zod'
import { bounds, describedMessage, optionalParameters, promptRequest } from '../../gateway/ports/prompts.ts'
import { isFields } from '../../lib/json/fields.ts'
import { valuesIn } from '../../lib/json/values-in.ts'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { isStorableJson, textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'

/** The sort orders of the list. */
export const versionSorts = { version: 'version' }

export const reference = z.string().min(1).max(255)
const unstorable = 'NUL characters and broken Unicode are not allowed.'
const jsonObject = z.record(z.string(), z.unknown()).refine(isStorableJson, unstorable)
const jsonObjects = z.array(jsonObject).max(128)

/** A template, or a part of one. */
export const templateText = textField(bounds.templateLength).min(1)

/** Parameters of a chat completion, by their types; those that a prompt brings itself are none. */
const parameters = z
  .looseObject(optionalParameters)
  .refine(isStorableJson, unstorable)
  .refine((given) => !['messages', 'variables', 'hyperparameters'].some((name) => Object.hasOwn(given, name)), {
    message: 'messages, variables and hyperparameters are no parameters: messages come from the template.',
  })
  .meta({
    id: 'PromptParameters',
    description: 'Hyperparameters of the chat completion, such as temperature and max_tokens; 128 KiB of JSON at most.',
  })

const metadata = z
  .looseObject({
    json_variables: z
      .array(textField(255).min(1))
      .max(100)
      .optional()
      .meta({ description: 'The variables that a raw template may put in as JSON, with `{{{name}}}`.' }),
  })
  .refine(isStorableJson, unstorable)

/** A version has so many values in all of its JSON, such as parameters and tools: each is looked at, stored and noted. */
const mostValues = 20_000

/** Refuses a body of too many values before any of them is looked at. */
function withFewValues(body: unknown, context: z.RefinementCtx): unknown {
  if (!isFields(body)) return body
  let count = 0
  for (const [name, value] of Object.entries(body)) {
    count += valuesIn(value, mostValues)
    if (count <= mostValues) continue
    context.addIssue({
      code: 'custom',
      path: [name],
      message: `A prompt has at most ${mostValues} values in its parameters, tools and metadata.`,
    })
    return z.NEVER
  }
  return body
}

const flag = z.union([z.boolean(), z.literal(0), z.literal(1)]).transform(Boolean)

/** The optional fields of a version beside its template and its provider. */
const versionFields = {
  model: textField(255).min(1).nullable().optional(),
  functions: jsonObjects.nullable().optional(),
  tools: jsonObjects.nullable().optional(),
  tool_choice: z
    .union([textField(255), jsonObject])
    .nullable()
    .optional(),
  version_description: textField(10_000).nullable().optional(),
  is_raw_template: flag.optional().meta({
    description:
      'Whether `string` is a template of a JSON document, whose variables are escaped, and not a document whose texts are templates.',
  }),
  template_metadata: metadata.nullable().optional(),
  prompt_metadata: metadata.nullable().optional().meta({ description: 'Another name of template_metadata.' }),
}

export const createPromptBody = z
  .preprocess(
    withFewValues,
    z.strictObject({
      name: nameField,
      collection_id: reference.meta({ description: 'Id or slug; the prompt belongs to its workspace.' }),
      string: templateText.meta({ description: 'Messages as JSON with Mustache templates as texts, or one template of a user message.' }),
      parameters,
      virtual_key: reference.meta({ description: 'A provider or virtual key of the workspace.' }),
      ...versionFields,
    }),
  )
  .meta({ id: 'CreatePrompt', description: 'A new prompt with its first version, which is published at once.' })

export const updatePromptBody = z
  .preprocess(
    withFewValues,
    z.strictObject({
      patch: since(
        '1.11.2',
        z.boolean().default(false).meta({ description: 'True takes absent fields of the new version from the latest one.' }),
      ),
      name: nameField.optional(),
      collection_id: reference.optional(),
      string: templateText.optional(),
      parameters: parameters.optional(),
      virtual_key: reference.optional(),
      ...versionFields,
    }),
  )
  .meta({
    id: 'UpdatePrompt',
    description: 'Any field of a version makes a new version, which is not published by that. Name and collection are the prompt’s own.',
  })

export type CreatePrompt = z.output<typeof createPromptBody>
export type UpdatePrompt = z.output<typeof updatePromptBody>

export const promptParams = z.object({ promptId: z.string() })
export const versionParams = z.object({ promptId: z.string(), versionId: z.string() })

export const promptFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at' }),
  search: searchField('the name'),
  collection_id: z.string().optional(),
  workspace_id: z.string().optional(),
})

/** A page of versions may be large: each holds its template. */
export const versionFilter = z.object(listFields({ sorts: versionSorts, sort: '-version' }))

export const createdPrompt = z
  .object({ id: z.uuid(), slug: z.string(), version_id: z.uuid(), object: z.literal('prompt') })
  .meta({ id: 'CreatedPrompt', description: 'The new prompt and its first version.' })

export const updatedPrompt = z
  .object({ id: z.uuid(), slug: z.string(), prompt_version_id: z.uuid() })
  .meta({ id: 'UpdatedPrompt', description: 'The prompt and its latest version.' })

const own = {
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.uuid(),
  workspace_id: z.uuid(),
  model: z.string().nullable(),
  status: z.enum(['active', 'archived']),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  object: z.literal('prompt'),
}

const anyObject = z.record(z.string(), z.unknown())

const content = {
  string: z.string(),
  parameters: anyObject,
  virtual_key: z.string(),
  functions: z.array(z.unknown()).nullable(),
  tools: z.array(z.unknown()).nullable(),
  tool_choice: z.unknown(),
  template_metadata: anyObject,
  is_raw_template: z.int().meta({ description: '1 for a template of a JSON document, else 0.' }),
}

export const promptView = z
  .object({
    ...own,
    ...content,
    prompt_version: z.int(),
    prompt_version_id: z.uuid(),
    prompt_version_status: z.enum(['active', 'archived']),
    prompt_version_description: z.string().nullable(),
    prompt_version_label_id: z.uuid().nullable(),
  })
  .meta({ id: 'Prompt', description: 'A prompt with one of its versions; without a suffix the published one.' })

export const promptList = listOf(
  z.object(own).meta({ id: 'PromptSummary', description: 'A prompt without its template; `model` is that of the published version.' }),
).meta({ id: 'PromptList', description: 'Prompts, newest first.' })

export const versionList = listOf(
  z
    .object({
      id: z.uuid(),
      prompt_id: z.uuid(),
      prompt_template: z.object({ ...content, model: z.string().nullable() }),
      prompt_version: z.int(),
      prompt_description: z.string().nullable(),
      label_id: z.uuid().nullable(),
      created_at: z.iso.datetime(),
      status: z.enum(['active', 'archived']),
      object: z.literal('prompt'),
    })
    .meta({ id: 'PromptVersionSummary', description: 'A version of a prompt.' }),
).meta({ id: 'PromptVersionList', description: 'The versions of a prompt, newest first.' })

export const labelVersionBody = z
  .strictObject({ label_id: z.uuid().nullable().optional() })
  .meta({ id: 'LabelPromptVersion', description: 'The label moves here from the version that has it; null takes it away.' })

export const makeDefaultBody = z
  .strictObject({ version: z.int().min(1).max(999_999_999) })
  .meta({ id: 'MakeDefaultVersion', description: 'The version to publish. Calls without a version use it.' })

export const renderBody = promptRequest.meta({ id: 'RenderPrompt', description: 'Variables, and hyperparameters beside them.' })

export const renderedPrompt = z
  .object({
    success: z.literal(true),
    data: z.looseObject({ ...optionalParameters, messages: z.array(z.looseObject({ role: z.string(), ...describedMessage })) }),
  })
  .meta({ id: 'RenderedPrompt', description: 'A chat completion request, ready to be sent as it is.' })
