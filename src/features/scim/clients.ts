import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { isApiKey } from '../../lib/api-key.ts'
import { rankOf } from '../../lib/access/rank.ts'
import { roleIn, type OrganisationRole, type Role } from '../../lib/access/roles.ts'
import { ApiError } from '../../lib/errors.ts'

interface Client {
  readonly id: string
  readonly organisation_id: string
  readonly name: string
  readonly rank: Role | null
  readonly maker_id: string | null
  /** Their present role in the organisation. */
  readonly maker_role: OrganisationRole | null
  readonly stale: boolean
  readonly slug: string
  readonly is_first: boolean
  readonly is_only: boolean
}

/** The place of a client's organisation in the installation. */
export interface Place {
  readonly slug: string
  /** The settings of the installation are its own. */
  readonly isFirst: boolean
  readonly isOnly: boolean
}

/** Its last use is noted no more often than this. */
const notedEverySeconds = 60

const good = `
    FROM scim_tokens t JOIN organisations o ON o.id = t.organisation_id
   WHERE t.status = 'active' AND o.status = 'active' AND (t.expires_at IS NULL OR t.expires_at > ?)
     AND (t.token_hash = ? OR (t.previous_token_hash = ? AND t.previous_token_expires_at > ?))`

const noOther = (where: string): string => `NOT EXISTS (SELECT 1 FROM organisations x WHERE x.status = 'active' AND ${where})`

const found = `
  SELECT t.id, t.organisation_id, t.name, t.rank, t.maker_id,
         (SELECT u.role FROM users u WHERE u.id = t.maker_id AND u.organisation_id = t.organisation_id AND u.status = 'active') AS maker_role, (t.last_used_at IS NULL OR t.last_used_at < now() - interval '${notedEverySeconds} seconds') AS stale,
         o.slug, ${noOther('(x.created_at, x.id) < (o.created_at, o.id)')} AS is_first, ${noOther('x.id <> o.id')} AS is_only
  ${good}`

/** The hashes of the tokens that clients have shown. */
const shown = new WeakMap<Actor, Buffer>()
const places = new WeakMap<Actor, Place>()

/** Returns the place of a client's organisation in the installation. */
export function placeOfClient(client: Actor): Place {
  const place = places.get(client)
  if (place === undefined) throw new Error('a client of SCIM has shown no token')
  return place
}

/** A part of a statement, with its values. */
export interface Part {
  readonly sql: string
  readonly values: readonly unknown[]
}

/**
 * Returns a source for a statement that gives no row if the token that a client has shown is no longer valid. A later revocation or rotation waits
 * for this transaction.
 */
export function stillGood(client: Actor, { clock }: Pick<Deps, 'clock'>): Part {
  const [now, hash] = [new Date(clock.now()), shown.get(client)]
  if (hash === undefined) throw new Error('a client of SCIM has shown no token')
  return { sql: `${good} AND t.id = ? FOR SHARE OF t`, values: [now, hash, hash, now, client.id] }
}

/** Returns the keyed hash of a token, as the database stores it. */
export const hashToken = ({ vault }: Pick<Deps, 'vault'>, token: string): Buffer => vault.hashKey(`scim:${token}`)

/** Finds the client whose token it is: asked of the database at each request, so that a revoked one is none at once. Throws AB05. */
export async function identifyClient(token: string, deps: Deps): Promise<Actor> {
  const client = isApiKey(token) ? await findClient(token, deps) : null
  if (client === null) throw badToken()
  const actor: Actor = {
    type: 'scim_token',
    id: client.id,
    name: client.name,
    keyType: 'organisation-service',
    organisationId: client.organisation_id,
    workspaceId: null,
    userId: null,
    role: rankOfClient(client),
    settings: effectiveSettings({}, {}),
    permissions: new Set(),
  }
  shown.set(actor, hashToken(deps, token))
  places.set(actor, { slug: client.slug, isFirst: client.is_first, isOnly: client.is_only })
  return actor
}

/** Returns the rank of a token: it writes people up to there, and never above the present role of its maker. */
const rankOfClient = ({ rank, maker_id: userId, maker_role: role }: Client): Role =>
  rankOf({ keyType: 'organisation-service', role: rank, maker: userId === null ? null : { userId, role: role && roleIn(role, null) } })

/** Returns the refusal of a token, the same for every fault. */
export const badToken = (): ApiError =>
  new ApiError('AB05', 'This is no token for SCIM, or it was revoked or has expired. POST /v1/scim/tokens makes one.', {
    param: 'authorization',
  })

function findClient(token: string, deps: Deps): Promise<Client | null> {
  const [now, hash] = [new Date(deps.clock.now()), hashToken(deps, token)]
  return asSystem(deps.orm, async (em) => {
    const [client] = await em.execute<Client[]>(found, [now, hash, hash, now])
    if (client?.stale === true) await em.execute('UPDATE scim_tokens SET last_used_at = ? WHERE id = ?', [now, client.id])
    return client ?? null
  })
}
