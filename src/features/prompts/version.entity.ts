import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

type Fields = Readonly<Record<string, unknown>>

const version = () => ({
  id: id(),
  organisationId: p.uuid(),
  workspaceId: p.uuid(),
  version: p.integer(),
  string: p.text(),
  description: p.text().nullable(),
  /** The partials that the template includes, as written, without `@version`. */
  partials: p.array().default([]),
  status: status('active', 'archived'),
  createdBy: p.uuid().nullable(),
  createdAt: createdAt(),
})

/** The JSON parts of a version, with the keys of their objects in the order of the request. */
export interface OrderedContent {
  readonly parameters: Fields
  readonly functions: readonly unknown[] | null
  readonly tools: readonly unknown[] | null
  readonly tool_choice: unknown
  readonly template_metadata: Fields
}

/** A version of a prompt. The database allows no change of it, but for its label. */
export const PromptVersion = defineEntity({
  name: 'PromptVersion',
  tableName: 'prompt_versions',
  filters: { tenant: tenantFilter },
  properties: {
    ...version(),
    promptId: p.uuid(),
    isRawTemplate: p.boolean().default(false),
    parameters: p.json<Fields>().default('{}'),
    model: p.text().nullable(),
    /** The slug of a provider or virtual key. */
    virtualKey: p.string().length(255),
    functions: p.json<readonly unknown[]>().nullable(),
    tools: p.json<readonly unknown[]>().nullable(),
    toolChoice: p.json<unknown>().nullable(),
    templateMetadata: p.json<Fields>().default('{}'),
    /** Null for versions of earlier releases: then the columns above count, whose keys are sorted. */
    ordered: p.json<OrderedContent>().columnType('json').nullable(),
    labelId: p.uuid().nullable(),
  },
})

export type PromptVersion = InferEntity<typeof PromptVersion>

/** A version of a partial. The database allows no change of it. */
export const PartialVersion = defineEntity({
  name: 'PartialVersion',
  tableName: 'prompt_partial_versions',
  filters: { tenant: tenantFilter },
  properties: { ...version(), promptPartialId: p.uuid() },
})

export type PartialVersion = InferEntity<typeof PartialVersion>
