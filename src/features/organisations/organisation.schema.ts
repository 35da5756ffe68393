import { z } from 'zod'
import { listOf, pageFields } from '../../lib/paging.ts'

/** An organisation as it is answered. */
export const organisationView = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    status: z.enum(['active', 'archived']),
    settings: z.record(z.string(), z.unknown()),
    defaults: z.record(z.string(), z.unknown()),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    object: z.literal('organisation'),
  })
  .meta({ id: 'Organisation', description: 'A tenant: everything else belongs to one.' })

export const organisationList = listOf(organisationView).meta({
  id: 'OrganisationList',
  description: 'The organisations that the key may see: its own.',
})

export const organisationFilter = z.object(pageFields({ defaultSize: 50, maxSize: 100 }))

export const organisationParams = z.object({ id: z.string() })
