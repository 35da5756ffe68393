import { LockMode } from '@mikro-orm/postgresql'
import { errors } from 'oidc-provider'
import { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { invokeScope } from '../../gateway/ports/mcp.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { McpSignIn } from './mcp-sign-in.entity.ts'
import { contentsPlace, McpSignInSecret, type SecretKind, secretKinds } from './mcp-sign-in-secret.entity.ts'
import { endSignIn } from './sign-ins.ts'
import { currentVisit, type Visit } from './visit.ts'

/** The contents of something that the library stores. */
export type Contents = Readonly<Record<string, unknown>>

/** The storage of one kind of things, as `oidc-provider` asks for it (its `adapter`). */
interface Storage {
  upsert(id: string, contents: Contents, seconds: number): Promise<void>
  find(id: string): Promise<Contents | undefined>
  findByUid(uid: string): Promise<undefined>
  findByUserCode(code: string): Promise<undefined>
  consume(id: string): Promise<void>
  destroy(id: string): Promise<void>
  revokeByGrantId(id: string): Promise<void>
}

/** For things that are not stored: sessions of the library, since our own count, and clients, which describe themselves. */
const nothing: Storage = {
  upsert: () => Promise.resolve(),
  find: () => Promise.resolve(undefined),
  findByUid: () => Promise.resolve(undefined),
  findByUserCode: () => Promise.resolve(undefined),
  consume: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  revokeByGrantId: () => Promise.resolve(),
}

/** Returns the storage of a kind of things of the library. */
export function storageOf(kind: string): Storage {
  if (kind === 'Grant') return grants
  const known = secretKinds.find((one) => one === kind)
  return known === undefined ? nothing : secretsOf(known)
}

/** Returns a secret as the database stores it. */
export const hashOf = ({ hashKey }: Pick<Vault, 'hashKey'>, secret: string): Buffer => hashKey(`mcp-sign-in:${secret}`)

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000)

/** A sign-in is the grant of the library. Its person alone makes it (`decide`). */
const grants: Storage = {
  ...nothing,
  upsert: () => Promise.reject(new Error('a sign-in is made by its person alone')),
  async find(id) {
    const { deps, organisationId } = currentVisit()
    const row = isUuid(id) ? await inTenant(deps.orm, organisationId, (em) => em.findOne(McpSignIn, { id })) : null
    if (row === null) return undefined
    return {
      kind: 'Grant',
      jti: row.id,
      iat: seconds(row.createdAt),
      exp: seconds(row.expiresAt),
      accountId: row.userId,
      clientId: row.clientId,
      resources: { [row.resource]: invokeScope },
    }
  },
  destroy: async (id) => void (isUuid(id) && (await endSignIn(currentVisit(), id, 'revoke'))),
}

const secretsOf = (kind: SecretKind): Storage => ({
  ...nothing,
  upsert: (id, contents, life) => keep(currentVisit(), { kind, secret: id, contents, life }),
  find: (id) => findSecret(currentVisit(), kind, id),
  consume: (id) => useUp(currentVisit(), kind, id),
  async destroy(id) {
    const { deps, organisationId } = currentVisit()
    await inTenant(deps.orm, organisationId, (em) => em.nativeDelete(McpSignInSecret, { kind, keyHash: hashOf(deps.vault, id) }))
  },
  async revokeByGrantId(signInId) {
    const { deps, organisationId } = currentVisit()
    if (isUuid(signInId)) await inTenant(deps.orm, organisationId, (em) => em.nativeDelete(McpSignInSecret, { kind, signInId }))
  },
})

/** How many secrets of a kind a sign-in, or for open requests a person, has; the oldest make room. A used one is kept, to be recognised. */
const most: Readonly<Record<SecretKind, number>> = { Interaction: 20, AuthorizationCode: 1, AccessToken: 10, RefreshToken: 50 }

interface NewSecret {
  readonly kind: SecretKind
  readonly secret: string
  readonly contents: Contents
  /** Seconds. */
  readonly life: number
}

const owned = z.object({ accountId: z.uuid().optional(), grantId: z.uuid().optional() })

async function keep({ deps, organisationId, userId }: Visit, { kind, secret, contents, life }: NewSecret): Promise<void> {
  const { accountId, grantId } = owned.parse(contents)
  const owner = userId ?? accountId
  if (owner === undefined) throw new Error(`nobody is the owner of this ${kind}`)
  const place = { id: uuidv7(), organisationId }
  const sealed = Buffer.from(await deps.vault.encrypt(contentsPlace(place), JSON.stringify(contents)))
  const now = deps.clock.now()
  const [column, value] = kind === 'Interaction' ? (['user_id', owner] as const) : (['sign_in_id', grantId ?? null] as const)
  await inTenant(deps.orm, organisationId, async (em) => {
    // It may just have ended.
    const signIn =
      grantId === undefined ? undefined : await em.findOne(McpSignIn, { id: grantId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (signIn === null) throw new errors.InvalidGrant('the sign-in has ended')
    if (kind === 'RefreshToken' && signIn !== undefined) signIn.lastRefreshedAt = new Date(now)
    em.create(McpSignInSecret, {
      ...place,
      signInId: kind === 'Interaction' ? null : (grantId ?? null),
      userId: owner,
      kind,
      keyHash: hashOf(deps.vault, secret),
      contents: sealed,
      expiresAt: new Date(now + life * 1000),
      createdAt: new Date(now),
    })
    await em.flush()
    await em.execute(
      `DELETE FROM mcp_sign_in_secrets WHERE id IN (
         SELECT id FROM mcp_sign_in_secrets WHERE organisation_id = ? AND kind = ? AND ${column} = ? ORDER BY created_at DESC, id DESC OFFSET ?)`,
      [organisationId, kind, value, most[kind]],
    )
  })
}

const anything = z.record(z.string(), z.unknown())

/** Returns the contents of a secret; undefined: there is none. An open request is there for its own person alone. */
async function findSecret({ deps, organisationId, userId }: Visit, kind: SecretKind, secret: string): Promise<Contents | undefined> {
  const keyHash = hashOf(deps.vault, secret)
  const row = await inTenant(deps.orm, organisationId, (em) => em.findOne(McpSignInSecret, { kind, keyHash }))
  if (row === null || (kind === 'Interaction' && row.userId !== userId)) return undefined
  const contents = anything.parse(JSON.parse(await deps.vault.decrypt(contentsPlace(row), row.contents)))
  return row.consumedAt ? { ...contents, consumed: seconds(row.consumedAt) } : contents
}

/** Uses up a secret. The second of two uses at once ends the sign-in, as a later one does: one of both is a thief's. */
async function useUp(visit: Visit, kind: SecretKind, secret: string): Promise<void> {
  const { deps, organisationId } = visit
  const keyHash = hashOf(deps.vault, secret)
  const signInId = await inTenant(deps.orm, organisationId, async (em) => {
    const used = await em.nativeUpdate(McpSignInSecret, { kind, keyHash, consumedAt: null }, { consumedAt: new Date(deps.clock.now()) })
    return used === 1 ? null : ((await em.findOne(McpSignInSecret, { kind, keyHash }))?.signInId ?? '')
  })
  if (signInId === null) return
  if (signInId !== '') await endSignIn(visit, signInId, 'refuse-used-secret')
  throw new errors.InvalidGrant('it was used before')
}
