import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import type { GrantOwner, McpGrantView, UsedTokens } from '../../gateway/ports/mcp.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { authorizationRequired } from './connect-error.ts'
import { openContents } from './contents.ts'
import { McpGrant } from './mcp-grant.entity.ts'

/** The outcome of a look at a grant. */
export type Claim =
  /** Its tokens can be used. */
  | { readonly fresh: McpGrantView }
  /** This process renews them now. */
  | { readonly claimed: McpGrant }
  /** Another process renews them. */
  | { readonly taken: true }

/** A renewal that takes longer is that of a process that has died. */
const claimMs = 45_000
/** Tokens that end so soon are renewed. */
const spentMs = 5000

const whoseOf = ({ integrationId, person }: GrantOwner) => ({
  integrationId,
  serverId: person?.serverId ?? null,
  userId: person?.userId ?? null,
})

/** Claims the renewal of tokens, unless there are newer ones than those that were used. Throws `authorization_required` for a person without any. */
export const claimGrant = (deps: Deps, owner: GrantOwner, used: UsedTokens | null): Promise<Claim> =>
  inTenant(deps.orm, owner.organisationId, async (em) => {
    const row = (await lock(em, owner)) ?? (await begin(em, deps, owner))
    if (isNewer(row, used) && !isSpent(row, deps.clock.now())) return { fresh: await viewOf(deps, row) }
    const [claim] = await em.execute<unknown[]>(
      `UPDATE mcp_grants SET claimed_until = now() + ? * interval '1 millisecond'
        WHERE id = ? AND (claimed_until IS NULL OR claimed_until < now()) RETURNING id`,
      [claimMs, row.id],
    )
    return claim === undefined ? { taken: true } : { claimed: row }
  })

const lock = (em: EntityManager, owner: GrantOwner): Promise<McpGrant | null> =>
  em.findOne(McpGrant, whoseOf(owner), { lockMode: LockMode.PESSIMISTIC_WRITE })

/** Makes the row in which the tokens of Gatehouse itself will be. A person makes theirs by signing in. */
async function begin(em: EntityManager, { config }: Deps, owner: GrantOwner): Promise<McpGrant> {
  if (owner.person !== null) throw authorizationRequired(config, owner.person.serverId)
  await em.execute(
    'INSERT INTO mcp_grants (id, organisation_id, integration_id) VALUES (?, ?, ?) ON CONFLICT (integration_id) WHERE user_id IS NULL DO NOTHING',
    [uuidv7(), owner.organisationId, owner.integrationId],
  )
  return em.findOneOrFail(McpGrant, whoseOf(owner), { lockMode: LockMode.PESSIMISTIC_WRITE })
}

const isNewer = ({ id, generation, contents }: McpGrant, used: UsedTokens | null): boolean =>
  Boolean(contents) && (used === null || used.id !== id || generation > used.generation)

const isSpent = ({ expiresAt }: McpGrant, now: number): boolean => (expiresAt ? expiresAt.getTime() - now < spentMs : false)

/** Returns the tokens of a row as calls use them. */
export async function viewOf({ vault }: Pick<Deps, 'vault'>, row: McpGrant): Promise<McpGrantView> {
  if (!row.contents) throw new Error('a grant without tokens is not shown')
  const { accessToken } = await openContents(vault, row, row.contents)
  const { id, generation, expiresAt, lastUpdatedAt } = row
  return { id, generation, accessToken, givenAt: lastUpdatedAt.getTime(), expiresAt: expiresAt?.getTime() ?? null }
}
