import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { ApiError } from '../../lib/errors.ts'
import { changedLimits, demandSetter, type SetterRanks } from '../../lib/access/set-from-above.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { maskFault, maskText } from '../../lib/text/masked-secrets.ts'
import { createSecret } from './signature.ts'
import { AlertWebhook, secretPlace, urlPlace } from './webhook.entity.ts'

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
export const aimOf = (url: string, { events }: Pick<AlertWebhook, 'events'>) => ({ url, events: events?.join() ?? null })

type Aim = ReturnType<typeof aimOf>

/** Records the rank of the caller that changes the aim of a webhook or its secret. Throws AB03 for a webhook that was set from above. */
export function noteWebhookSetter(
  actor: Actor,
  row: AlertWebhook,
  { before, after, rotates }: { readonly before: Aim; readonly after: Aim; readonly rotates: boolean },
): void {
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

/** Gives a webhook a URL: sealed, and readable for processes of earlier builds. Once 1.12.0 is finalized, the database does not keep the latter. */
export async function setUrl(row: AlertWebhook, url: string, vault: Vault): Promise<void> {
  row.url = url
  row.urlSealed = Buffer.from(await vault.encrypt(urlPlace(row), url))
}

/** A webhook as far as its URL goes. */
interface Addressed {
  readonly id: string
  readonly organisationId: string
  readonly url?: string | null | undefined
  readonly urlSealed?: Uint8Array | null | undefined
}

/** Returns the URL of a webhook. */
export async function openUrl(row: Addressed, vault: Vault): Promise<string> {
  if (row.urlSealed) return vault.decrypt(urlPlace(row), row.urlSealed)
  if (!row.url) throw new ApiError('AB04', 'The webhook has no URL.')
  return row.url
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

export const presentWebhook = (url: string, { id, name, events, workspaceId, createdAt, lastUpdatedAt }: AlertWebhook) => ({
  id,
  name,
  url: maskedUrl(url),
  events: events ?? null,
  workspace_id: workspaceId ?? null,
  created_at: createdAt.toISOString(),
  last_updated_at: lastUpdatedAt.toISOString(),
  object: 'alert_webhook' as const,
})
