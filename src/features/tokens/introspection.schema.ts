import { z } from 'zod'
import { textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'
import { secretField } from '../../lib/json/secret-fields.ts'

export const introspectionBody = z
  .object({
    token: secretField(textField(16_384).min(1)).meta({ description: 'The API key or JSON Web Token to describe.' }),
    token_type_hint: z.string().max(255).optional().meta({ description: 'Taken and not needed: a token shows its type.' }),
  })
  .meta({ id: 'IntrospectToken', description: 'A token to describe, as JSON or as a form (RFC 7662).' })

const seconds = z.int().optional()

export const introspectionView = z
  .object({
    active: z.boolean().meta({ description: 'True if the credential is valid now. If false, the answer has no other field.' }),
    token_type: z.enum(['api_key', 'jwt']).optional(),
    scope: z.string().optional().meta({ description: 'The scopes that it holds, as words.' }),
    client_id: z.uuid().optional().meta({ description: 'The id under which logs show it.' }),
    organisation_id: z.uuid().optional(),
    workspace_id: z.uuid().nullable().optional(),
    user_id: z.uuid().nullable().optional(),
    email: since('1.7.3', z.string().nullable()).optional(),
    username: since('1.7.3', z.string().nullable().meta({ description: "The holder's name; else the name in the token." })).optional(),
    sub: z.string().optional(),
    iss: z.string().optional(),
    aud: z.array(z.string()).optional(),
    exp: seconds,
    iat: seconds,
    nbf: seconds,
  })
  .meta({ id: 'Introspection', description: 'The state, holder and scopes of a credential (RFC 7662).' })

export type Introspection = z.input<typeof introspectionView>
