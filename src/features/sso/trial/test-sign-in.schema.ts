import { z } from 'zod'
import { organisationRoles, workspaceRoles } from '../../../lib/access/roles.ts'

const place = z.object({
  workspace_id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  role: z.enum(workspaceRoles),
  by_group: z.boolean().meta({ description: 'True if groups give the place.' }),
})

/** The schema of an outcome. */
export const outcome = z.object({
  ok: z.boolean().meta({ description: 'Whether the person would be signed in, were the provider on.' }),
  error: z.object({ code: z.string(), message: z.string() }).nullable().meta({ description: 'The error for a person who is not let in.' }),
  issuer: z.string(),
  subject: z.string().nullable(),
  email: z.string().nullable().meta({ description: 'The address that counts as verified; null: none does.' }),
  person: z
    .enum(['known', 'new'])
    .nullable()
    .meta({ description: '`known`: has an account; `new`: would get one, by an invitation or without. Null: would not come in.' }),
  user_id: z.uuid().nullable().meta({ description: 'The id of a person who has an account.' }),
  role: z.enum(organisationRoles).nullable().meta({ description: 'In the organisation, after this sign-in.' }),
  groups: z
    .array(z.string())
    .nullable()
    .meta({ description: 'The groups in `group_claim`; null: it is not set, or the provider left groups out.' }),
  workspaces: z.array(place).meta({ description: 'The places that the person would have after this sign-in.' }),
  claims: z.record(z.string(), z.unknown()).meta({
    description: 'All claims of the provider about the person. Tokens, and texts that look like a secret, are not shown.',
  }),
  claims_left_out: z.array(z.string()).meta({ description: 'Claims that are too long to be shown: beyond 32 kB in all the longest go.' }),
})

/** The outcome of a test sign-in: all that a real one would bring. */
export type Outcome = z.output<typeof outcome>

export const testSignInView = z
  .object({
    object: z.literal('test-sign-in'),
    id: z.uuid(),
    expires_at: z.iso.datetime().meta({ description: 'Until when it can be begun. It is forgotten a day after it was made.' }),
    finished_at: z.iso.datetime().nullable().meta({ description: 'Null: the sign-in has not come back yet.' }),
    outcome: outcome.nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'TestSignIn', description: 'A sign-in by the identity provider that opens no session and makes no changes.' })

export const testSignInMade = testSignInView
  .extend({ url: z.url().meta({ description: 'Open it in a browser. It serves once.' }) })
  .meta({ id: 'TestSignInMade', description: 'A test sign-in, with the URL where it begins.' })

export const testSignInParams = z.object({ testSignInId: z.string() })
