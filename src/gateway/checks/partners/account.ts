import type { z } from 'zod'
import type { Account, CheckContext } from '../check.ts'
import { calledUrl } from '../default/webhook.ts'

type Shape = Readonly<Record<string, z.ZodType>>

/** Another address of a partner's service, as a parameter of its checks. */
export const baseUrl = calledUrl.optional().meta({ description: 'Another address of the service: of a region, or of a proxy of your own.' })

/** The parameters with which a check names its account: its own credentials, unless those that are stored for the partner serve. */
export const accountFields = <Credentials extends z.ZodType>(schema: Credentials) => ({
  credentials: schema.optional().meta({
    description: 'The credentials of the service; absent: those stored with `POST /plugins`. Secrets are sealed, and shown as `********`.',
  }),
  baseUrl,
})

/** The partner of a check, by the check's id. */
export const pluginOf = (id: string): string => id.split('.', 1)[0] ?? id

/** Stored credentials go to the address stored with them: the author of a guardrail cannot send them to another. */
export function accountRule(given: { readonly credentials?: unknown; readonly baseUrl?: unknown }) {
  if (given.baseUrl === undefined || given.credentials !== undefined) return null
  const message = 'Another address needs credentials of its own beside it. Stored credentials go to the base_url that is stored with them.'
  return { field: 'baseUrl', message }
}

/** Credentials in the clear, and the address that they go to; null: the service's own. */
export interface OpenAccount<Credentials> {
  readonly credentials: Credentials
  readonly address: string | null
}

interface AccountSpec<Credentials extends Shape> extends Pick<Account, 'plugin'> {
  /** The name for errors. */
  readonly title: string
  readonly schema: z.ZodObject<Credentials>
}

/** Finds the credentials that are stored for a check. Rejects when there are none, or not those that it needs. */
export async function findAccount<Credentials extends Shape>(
  { title, plugin, schema }: AccountSpec<Credentials>,
  { credentials }: Pick<CheckContext, 'credentials'>,
): Promise<OpenAccount<z.output<z.ZodObject<Credentials>>>> {
  const stored = await credentials(plugin)
  if (stored === null)
    throw new Error(`There are no credentials for ${title}. Store those of "${plugin}" with POST /v1/plugins, or give them to the check.`)
  const own = Object.entries(stored.fields).filter(([name]) => Object.hasOwn(schema.shape, name))
  const parsed = schema.safeParse(Object.fromEntries(own))
  if (parsed.success) return { credentials: parsed.data, address: stored.baseUrl }
  const lacking = String(parsed.error.issues[0]?.path[0] ?? 'a field')
  throw new Error(`The stored credentials of "${plugin}" lack "${lacking}", which ${title} needs. Add it with PUT /v1/plugins.`)
}
