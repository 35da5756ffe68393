import { z } from 'zod'
import { laterProviders } from '../../gateway/ports/providers.ts'
import { listOf } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { since, valuesSince } from '../../release/since.ts'
import { configurationsField, configurationsView, providerKey } from '../integrations/index.ts'
import { secretMappings, secretMappingsView } from '../secret-references/index.ts'
import { providerFields, providerViewFields } from '../providers/index.ts'

const short = z.string().max(255)

const deploymentConfig = z
  .array(
    z.strictObject({
      apiVersion: short.min(1).max(30),
      alias: short.optional(),
      is_default: z.boolean().default(false),
      deploymentName: short.min(1),
    }),
  )
  .min(1)
  .max(100)

/** Azure fields of old clients; they become configurations. */
const azure = {
  apiVersion: short.max(30).nullable().optional(),
  resourceName: short.nullable().optional(),
  deploymentName: short.nullable().optional(),
  deploymentConfig: deploymentConfig.nullable().optional(),
}

export type AzureFields = z.output<z.ZodObject<typeof azure>>

const extra = {
  configurations: configurationsField.nullable().optional(),
  secret_mappings: secretMappings,
}

export const createVirtualKeyBody = z
  .strictObject({
    name: nameField,
    provider: valuesSince(laterProviders, z.string().min(1).max(255)),
    key: providerKey.optional(),
    workspace_id: z.string().min(1).max(255).optional(),
    ...azure,
    ...extra,
    ...providerFields,
  })
  .meta({ id: 'CreateVirtualKey', description: 'A provider key under a name of its own.' })

export const updateVirtualKeyBody = z
  .strictObject({
    name: nameField.optional(),
    key: providerKey.nullable().optional(),
    reset_usage: z.boolean().optional(),
    ...azure,
    ...extra,
    ...providerFields,
  })
  .meta({ id: 'UpdateVirtualKey', description: 'The fields to change. Absent fields stay as they are, null clears a field.' })

export const createdVirtualKey = z
  .object({ success: z.literal(true), data: z.object({ slug: z.string() }) })
  .meta({ id: 'CreatedVirtualKey', description: 'The slug of the new virtual key.' })

export const virtualKeyView = z
  .object({
    ...providerViewFields,
    provider: z.string(),
    masked_key: z.string().nullable(),
    model_config: configurationsView,
    secret_mappings: since('1.12.0', secretMappingsView),
    object: z.literal('virtual-key'),
  })
  .meta({ id: 'VirtualKey', description: 'A virtual key, without the key behind it.' })

export const virtualKeyList = listOf(virtualKeyView).meta({
  id: 'VirtualKeyList',
  description: 'Virtual keys of a workspace, newest first.',
})
