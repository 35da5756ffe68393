import type { EntityManager } from '@mikro-orm/postgresql'
import { uuidv7 } from '../../lib/uuid.ts'
import { scrubSecrets } from '../../lib/scrub.ts'
import { isStorable } from '../../lib/text.ts'
import type { Actor } from '../route.ts'
import { isSecretName } from '../secret-names.ts'
import type { Vault } from '../secrets/vault.ts'

/** One write on the control plane, as the trail keeps it. */
export interface AuditEntry {
  readonly actor: Actor
  readonly workspaceId: string | null
  readonly action: string
  readonly resourceType: string
  readonly resourceId: string | null
  readonly method: string
  readonly uri: string
  readonly requestId: string
  readonly clientAddress: string
  readonly status: number
  readonly body: unknown
}

/** Writes the row in the transaction of the write itself: either both are there or neither. */
export async function writeAudit(em: EntityManager, vault: Vault, entry: AuditEntry): Promise<void> {
  const row = toRow(entry, vault)
  const columns = Object.keys(row)
  await em.execute(`INSERT INTO audit_logs (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`, Object.values(row))
}

const toRow = (entry: AuditEntry, vault: Vault) => ({
  id: uuidv7(),
  organisation_id: entry.actor.organisationId,
  workspace_id: entry.workspaceId,
  actor_type: entry.actor.type,
  actor_id: entry.actor.id,
  action: entry.action,
  resource_type: entry.resourceType,
  resource_id: entry.resourceId,
  method: entry.method,
  uri: entry.uri,
  request_id: entry.requestId,
  client_ip: entry.clientAddress,
  response_status: entry.status,
  request_body: entry.body === undefined ? null : JSON.stringify(withoutSecrets(entry.body, (secret) => fingerprint(vault, secret))),
})

/** A keyed hash: shows that two requests held the same secret, and cannot be tried against guesses without the key. */
const fingerprint = (vault: Vault, secret: string) => `hmac:${vault.hashKey(`audit:${secret}`).toString('hex')}`

/** The value with every text that may be a secret replaced, by the name of a field above it or by its own shape. */
export function withoutSecrets(value: unknown, replace: (secret: string) => string, secret = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, replace, secret))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [storable(name), withoutSecrets(child, replace, secret || isSecretName(name))]),
    )
  }
  if (typeof value === 'string') return secret || scrubSecrets(value) !== value ? replace(value) : storable(value)
  return secret && typeof value === 'number' ? replace(String(value)) : value
}

/** Documents such as service accounts may hold anything as JSON, and jsonb cannot: no write fails because its row of the trail would. */
const storable = (text: string): string => (isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD'))
