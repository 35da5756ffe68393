import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { ApiError } from '../../lib/errors.ts'
import { changedLimits, demandSetter, type SetterRanks } from '../../lib/access/set-from-above.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { maskFault, maskText } from '../../lib/text/masked-secrets.ts'
import { createSecret } from './signature.ts'
import { AlertWebhook, secretPlace } from './webhook.entity.ts'

/** The webhooks that a caller may see: a workspace key those of its workspace. */
export const visibleWebhooks = ({ organisationId, workspaceId }: Actor): FilterQuery<AlertWebhook> => ({
  organisationId,
  status: 'active',
  ...(workspaceId !== null && { workspaceId }),
})

/** Returns a webhook that the caller may see; AB08 otherwise. */
export async function findWebhook(em: EntityManager, actor: Actor, { id, lock = false }: { readonly id: string; readonly lock?: boolean }) {
  const where = { $and: [visibleWebhooks(actor), { id: id.toLowerCase() }] }
  const row = isUuid(id) ? await em.findOne(AlertWebhook, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {}) : null
  if (row === null) throw notFound('alert webhook', id)
  return row
}

const ofWebhook = 'webhook'

/** Returns the rank of the caller that sets a webhook, or that changes one. */
export const webhookSetters = (actor: Actor): SetterRanks => changedLimits(actor, {}, [{ field: ofWebhook, before: null, after: true }])

/** Throws AB03 for a webhook that was set from above; `param` names the field that would change it. */
export const demandWebhook = (actor: Actor, { setterRanks }: Pick<AlertWebhook, 'setterRanks'>, param: string): void =>
  demandSetter(actor, setterRanks, { field: ofWebhook, param })

/** Returns the parts of a webhook that decide which alerts come where. */
export const aimOf = ({ url, events }: AlertWebhook) => ({ url, events: events?.join() ?? null })

/** Records the rank of the caller that changes the aim of a webhook or its secret. Throws AB03 for a webhook that was set from above. */
export function noteWebhookSetter(
  actor: Actor,
  row: AlertWebhook,
  { before, rotates }: { readonly before: ReturnType<typeof aimOf>; readonly rotates: boolean },
): void {
  const after = aimOf(row)
  const changed = after.url !== before.url ? 'url' : after.events !== before.events ? 'events' : rotates ? 'rotate_secret' : null
  if (changed === null) return
  demandWebhook(actor, row, changed)
  row.setterRanks = webhookSetters(actor)
}

/** Gives a webhook a new secret. Returns it: it is shown this once. */
export async function renewSecret(row: AlertWebhook, vault: Vault): Promise<string> {
  const secret = createSecret()
  row.secret = Buffer.from(await vault.encrypt(secretPlace(row), secret))
  return secret
}

export async function openSecret(row: AlertWebhook, vault: Vault): Promise<string> {
  if (!row.secret) throw new ApiError('AB04', 'The webhook has no secret.')
  return vault.decrypt(secretPlace(row), row.secret)
}

/** The number of characters at the end of a URL that distinguish two of one host. */
const shownEnd = 4

/** The URL as it is shown: the path of many webhooks is their credential, so that it stays hidden from every caller. */
export function maskedUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const rest = pathname + search
  if (rest === '/') return origin
  return `${origin}/${maskText}${rest.length >= 4 * shownEnd ? rest.slice(-shownEnd) : ''}`
}

/** Throws AB01 for a URL that is only shown, of another webhook or of another address. */
export function demandWhole(url: string): void {
  if (url.includes(maskText)) throw maskFault('url', 'unknown', '')
}

export const presentWebhook = ({ id, name, url, events, workspaceId, createdAt, lastUpdatedAt }: AlertWebhook) => ({
  id,
  name,
  url: maskedUrl(url),
  events: events ?? null,
  workspace_id: workspaceId ?? null,
  created_at: createdAt.toISOString(),
  last_updated_at: lastUpdatedAt.toISOString(),
  object: 'alert_webhook' as const,
})
