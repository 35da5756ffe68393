import { z } from 'zod'
import { maxPageSize } from '../../lib/paging.ts'
import { measureFields, measureNames } from './measures.ts'
import { sampled } from './sampling.ts'
import { usageQuery } from './usage.schema.ts'

/** The column of a usage `l` that each group is made by. */
export const groupColumns = {
  ai_service: 'provider',
  model: 'model',
  status_code: 'status',
  api_key: 'api_key_id',
  config: 'config_slug',
  workspace: 'workspace_id',
  provider: 'provider_slug',
  prompt: 'prompt_slug',
} as const

type GroupName = keyof typeof groupColumns
const isGroup = (name: string): name is GroupName => Object.hasOwn(groupColumns, name)

export const groupParams = z.object({ groupBy: z.enum(Object.keys(groupColumns).filter(isGroup)) })

const columnsField = z
  .string()
  .max(1000)
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .pipe(z.array(z.enum(measureNames)))
  .transform((names) => [...new Set(names)])

/** The parameters of a page of groups. */
export const groupPage = {
  page_size: z.coerce.number().int().min(1).max(maxPageSize).default(50).meta({ description: 'Groups in one page.' }),
  current_page: z.coerce.number().int().min(0).max(1_000_000).default(0).meta({ description: 'The page, counted from 0.' }),
}

export const groupQuery = usageQuery
  .extend({
    columns: columnsField.default([]).meta({
      description: `Figures to show beside the count of requests, comma-separated: ${measureNames.map((name) => `\`${name}\``).join(', ')}.`,
    }),
    ...groupPage,
  })
  .meta({ id: 'GroupQuery', description: 'The requests to group, and the figures of each group.' })

const group = z
  .object({
    object: z.literal('analytics-group'),
    key: z.string().nullable().meta({ description: 'The shared value of the requests; null: they have none.' }),
    requests: z.int(),
    ...measureFields,
  })
  .meta({ id: 'AnalyticsGroup', description: 'The requests that have one thing in common.' })

export const groupList = z
  .object({
    object: z.literal('list'),
    total: z.int().meta({ description: 'Groups in all.' }),
    data: z.array(group).meta({ description: 'The groups with most requests first.' }),
    ...sampled,
  })
  .meta({ id: 'AnalyticsGroupList', description: 'A page of groups.' })
