import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** Returns the columns that prompts and partials share: a name for versions, of which one is published. */
const versioned = () => ({
  id: id(),
  organisationId: p.uuid(),
  workspaceId: p.uuid(),
  collectionId: p.uuid(),
  slug: p.string().length(255),
  name: p.string().length(255),
  status: status('active', 'archived'),
  /** The version that serves when none is named. */
  publishedVersion: p.integer().default(1),
  latestVersion: p.integer().default(1),
  createdBy: p.uuid().nullable(),
  createdAt: createdAt(),
  lastUpdatedAt: lastUpdatedAt(),
})

/** A prompt, which requests call by its id. */
export const Prompt = defineEntity({
  name: 'Prompt',
  tableName: 'prompts',
  filters: { tenant: tenantFilter },
  properties: versioned(),
})

export type Prompt = InferEntity<typeof Prompt>

/** A piece of a template that prompts include. */
export const PromptPartial = defineEntity({
  name: 'PromptPartial',
  tableName: 'prompt_partials',
  filters: { tenant: tenantFilter },
  properties: versioned(),
})

export type PromptPartial = InferEntity<typeof PromptPartial>
