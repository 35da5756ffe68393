import { z } from 'zod'
import { listFields, listOf, usualSorts } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'

const dayMs = 86_400_000

export const createTokenBody = z
  .strictObject({
    name: nameField,
    expires_at: z.iso.datetime({ offset: true }).nullable().optional().meta({ description: 'When the token ends; null or absent: never.' }),
  })
  .meta({ id: 'CreateScimToken', description: 'A client that writes users and groups, such as an identity provider.' })

export const rotateTokenBody = z
  .strictObject({
    transition_period_ms: z
      .int()
      .min(0)
      .max(30 * dayMs)
      .default(dayMs)
      .meta({ description: 'How long the old token stays valid beside the new one, in milliseconds.' }),
  })
  .default({ transition_period_ms: dayMs })
  .meta({ id: 'RotateScimToken', description: 'How the old token ends.' })

export const tokenParams = z.object({ tokenId: z.string() })

export const tokenFilter = z.object(listFields({ sorts: usualSorts, sort: '-created_at' }))

const fields = {
  id: z.uuid(),
  name: z.string(),
  token_hint: z.string().meta({ description: 'The end of the token.' }),
  expires_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable().meta({ description: 'To the minute; null: never.' }),
  previous_token_expires_at: z.iso.datetime().nullable().meta({ description: 'Until when the token before the last rotation is valid.' }),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  object: z.literal('scim_token'),
}

export const tokenView = z.object(fields).meta({ id: 'ScimToken', description: 'A token for SCIM, without its secret.' })

export const tokenMade = z
  .object({
    ...fields,
    token: z.string().meta({ description: 'Shown this once.' }),
    base_url: z.url().meta({ description: 'The address that the client asks for beside the token.' }),
  })
  .meta({ id: 'ScimTokenMade', description: 'A token for SCIM, with its secret.' })

export const tokenList = listOf(tokenView).meta({ id: 'ScimTokenList', description: 'Tokens for SCIM, the latest first.' })
