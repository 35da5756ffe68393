import { orderedContent } from './content.ts'
import type { Prompt, PromptPartial } from './prompt.entity.ts'
import type { PartialVersion, PromptVersion } from './version.entity.ts'

/** Returns the answer fields that prompts and partials share. */
const presentOwn = (row: Prompt) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  collection_id: row.collectionId,
  workspace_id: row.workspaceId,
  status: row.status,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
})

/** A prompt as lists answer it. */
export const presentSummary = (row: Prompt, model: string | null) => ({ ...presentOwn(row), model, object: 'prompt' as const })

function presentContent(version: PromptVersion) {
  const { parameters, functions, tools, tool_choice, template_metadata } = orderedContent(version)
  return {
    string: version.string,
    parameters: { ...parameters },
    virtual_key: version.virtualKey,
    model: version.model ?? null,
    functions: functions && [...functions],
    tools: tools && [...tools],
    tool_choice,
    template_metadata: { ...template_metadata },
    is_raw_template: Number(version.isRawTemplate),
  }
}

/** A prompt with one of its versions. */
export const presentPrompt = (prompt: Prompt, version: PromptVersion) => ({
  ...presentOwn(prompt),
  ...presentContent(version),
  prompt_version: version.version,
  prompt_version_id: version.id,
  prompt_version_status: version.status,
  prompt_version_description: version.description ?? null,
  prompt_version_label_id: version.labelId ?? null,
  object: 'prompt' as const,
})

/** A version as the list of versions answers it. */
export const presentVersion = (version: PromptVersion) => ({
  id: version.id,
  prompt_id: version.promptId,
  prompt_template: presentContent(version),
  prompt_version: version.version,
  prompt_description: version.description ?? null,
  label_id: version.labelId ?? null,
  created_at: version.createdAt.toISOString(),
  status: version.status,
  object: 'prompt' as const,
})

/** A partial as lists answer it. */
export const presentPartialSummary = (row: PromptPartial) => ({ ...presentOwn(row), object: 'partial' as const })

/** A partial with one of its versions. */
export const presentPartial = (partial: PromptPartial, version: PartialVersion) => ({
  ...presentPartialSummary(partial),
  string: version.string,
  version: version.version,
  version_description: version.description ?? null,
  prompt_partial_version_id: version.id,
})

/** A version of a partial as the list of versions answers it. */
export const presentPartialVersion = (partial: PromptPartial, version: PartialVersion) => ({
  prompt_partial_id: partial.id,
  prompt_partial_version_id: version.id,
  slug: partial.slug,
  version: version.version,
  string: version.string,
  description: version.description ?? null,
  created_at: version.createdAt.toISOString(),
  prompt_version_status: version.status,
  object: 'partial' as const,
})
