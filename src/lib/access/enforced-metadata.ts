import { z } from 'zod'
import { ApiError } from '../errors.ts'
import { textField } from '../text/text.ts'

const keys = (description: string) => z.array(textField(255).min(1)).max(64).nullable().optional().meta({ description })

/** The metadata that an organisation asks for, so that every log row can be attributed. Null: none. */
export const enforcedMetadataFields = {
  api_key_metadata_keys: keys(
    'The keys of metadata that the defaults of every API key of a workspace must hold, when it is made or changed.',
  ),
  workspace_metadata_keys: keys('The keys of metadata that the defaults of every workspace must hold, when it is made or changed.'),
}

export type EnforcedMetadata = Readonly<Record<keyof typeof enforcedMetadataFields, readonly string[]>>

/** Returns the metadata keys that an organisation's stored settings demand. */
export const enforcedMetadata = (settings: unknown): EnforcedMetadata => ({
  api_key_metadata_keys: texts(settings, 'api_key_metadata_keys'),
  workspace_metadata_keys: texts(settings, 'workspace_metadata_keys'),
})

/** The first key that metadata lacks, or has without a text; null when all are there. */
export const missingMetadata = (wanted: readonly string[], metadata: unknown): string | null =>
  wanted.find((key) => {
    const value: unknown =
      typeof metadata === 'object' && metadata !== null && Object.hasOwn(metadata, key) ? Reflect.get(metadata, key) : undefined
    return typeof value !== 'string' || value === ''
  }) ?? null

/** The refusal of a request that lacks it. */
export const lacksMetadata = (noun: string, key: string): ApiError =>
  new ApiError('AB01', `The organisation asks that the metadata of every ${noun} holds ${JSON.stringify(key)}, with a text.`, {
    param: `defaults.metadata.${key}`,
  })

function texts(settings: unknown, name: string): readonly string[] {
  const found: unknown = typeof settings === 'object' && settings !== null ? Reflect.get(settings, name) : undefined
  return Array.isArray(found) ? found.filter((entry) => typeof entry === 'string') : []
}
