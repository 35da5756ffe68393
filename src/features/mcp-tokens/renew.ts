import { setTimeout as sleep } from 'node:timers/promises'
import { jobEntry } from '../../app/audit/job-entry.ts'
import { writeAudit } from '../../app/audit/write.ts'
import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import { isOn } from '../../config/effect.ts'
import {
  type GivenTokens,
  type GrantOwner,
  isGrantOver,
  type McpGrantView,
  type McpTokens,
  signInFailed,
  type UsedTokens,
} from '../../gateway/ports/mcp.ts'
import { claimGrant } from './claim.ts'
import { authorizationRequired } from './connect-error.ts'
import { type GrantContents, openContents, sealContents } from './contents.ts'
import type { McpGrant } from './mcp-grant.entity.ts'
import { askForItself, askForPerson } from './ask-tokens.ts'

/** So long a call waits for a renewal of another process, and so often it looks. */
const waits = { longestMs: 60_000, pollMs: 100 } as const

/** Renews tokens: one renewal at a time for each grant, in this process and in all. */
export function createTokens(deps: Deps): McpTokens {
  const flights = new Map<string, Promise<McpGrantView>>()
  return {
    renew(owner, used) {
      const { integrationId, person } = owner
      const key = JSON.stringify([integrationId, person?.serverId, person?.userId, used?.id, used?.generation])
      const running = flights.get(key)
      if (running !== undefined) return running
      const flight = renew(deps, owner, used).finally(() => flights.delete(key))
      flights.set(key, flight)
      return flight
    },
    refusal: ({ person }) =>
      person === null
        ? signInFailed('the server refuses the token that it was just given')
        : authorizationRequired(deps.config, person.serverId),
  }
}

async function renew(deps: Deps, owner: GrantOwner, used: UsedTokens | null): Promise<McpGrantView> {
  const until = performance.now() + waits.longestMs
  for (;;) {
    const claim = await claimGrant(deps, owner, used)
    if ('fresh' in claim) return claim.fresh
    if ('claimed' in claim) return renewClaimed(deps, owner, claim.claimed)
    if (performance.now() > until) throw signInFailed('another process asks for a token, and has none yet')
    await sleep(waits.pollMs)
  }
}

async function renewClaimed(deps: Deps, owner: GrantOwner, row: McpGrant): Promise<McpGrantView> {
  try {
    const before = row.contents ? await openContents(deps.vault, row, row.contents) : null
    if (owner.person === null) return await store(deps, row, { given: await askForItself(deps, row), refresh: null })
    const { refresh = null } = before ?? {}
    if (refresh === null) return await endOrRenew(deps, owner, row)
    const given = await askForPerson(deps, row, refresh).catch((thrown: unknown) => {
      if (isGrantOver(thrown)) return null
      throw thrown
    })
    if (given === null) return await endOrRenew(deps, owner, row)
    return await store(deps, row, { given, refresh: { ...refresh, token: given.refreshToken ?? refresh.token } })
  } catch (thrown) {
    await release(deps, row)
    throw thrown
  }
}

const release = (deps: Deps, { organisationId, id, generation }: McpGrant): Promise<unknown> =>
  inTenant(deps.orm, organisationId, (em) =>
    em.execute('UPDATE mcp_grants SET claimed_until = NULL WHERE id = ? AND generation = ?', [id, generation]),
  ).catch((error: unknown) => deps.log.warn({ err: error, grant: id }, 'the claim on an MCP grant ends by itself'))

interface RenewedTokens {
  readonly given: GivenTokens
  readonly refresh: GrantContents['refresh']
}

const update = `
  UPDATE mcp_grants SET contents = ?, expires_at = ?, generation = generation + 1, claimed_until = NULL, last_updated_at = ?
   WHERE id = ? AND generation = ? RETURNING generation`

/** A token that was rotated is lost if it is not stored. */
const mostTries = 3

async function store(deps: Deps, row: McpGrant, { given, refresh }: RenewedTokens): Promise<McpGrantView> {
  const { id, organisationId, generation } = row
  const { accessToken, expiresInMs } = given
  const now = deps.clock.now()
  const expiresAt = expiresInMs === null ? null : now + expiresInMs
  const sealed = await sealContents(deps.vault, row, { accessToken, refresh })
  const values = [sealed, expiresAt === null ? null : new Date(expiresAt), new Date(now), id, generation]
  for (let tries = 1; ; tries += 1)
    try {
      const [stored] = await inTenant(deps.orm, organisationId, (em) => em.execute<{ generation: number }[]>(update, values))
      if (stored === undefined) throw signInFailed('the settings of the server were changed meanwhile, call again')
      return { id, generation: stored.generation, accessToken, givenAt: now, expiresAt }
    } catch (thrown) {
      if (tries >= mostTries || isFinal(thrown)) throw thrown
      await sleep(waits.pollMs)
    }
}

const isFinal = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'ApiError'

/** Ends a grant that the authorization server does not renew any more, unless other tokens came meanwhile, which the refused one was the sign of. */
async function endOrRenew(deps: Deps, owner: GrantOwner, row: McpGrant): Promise<McpGrantView> {
  const { person } = owner
  if (person === null) throw new Error('Gatehouse itself has no grant that could be over')
  if (!(await endGrant(deps, row, person))) return renew(deps, owner, row)
  deps.log.warn(
    { grant: row.id, server: person.serverId, user: person.userId },
    'an MCP connection is over: its person has to sign in again',
  )
  throw authorizationRequired(deps.config, person.serverId)
}

/** Removes a grant with a row in the trail. Resolves to false if it has other tokens by now. */
function endGrant(deps: Deps, row: McpGrant, person: NonNullable<GrantOwner['person']>): Promise<boolean> {
  const { id, organisationId, generation } = row
  return inTenant(deps.orm, organisationId, async (em) => {
    const [ended] = await em.execute<unknown[]>('DELETE FROM mcp_grants WHERE id = ? AND generation = ? RETURNING id', [id, generation])
    if (ended === undefined) return false
    if (!isOn('AUDIT_LOGS_ENABLED', deps.config, deps.level)) return true
    const [server] = await em.execute<{ workspace: string }[]>('SELECT workspace_id AS workspace FROM mcp_servers WHERE id = ?', [
      person.serverId,
    ])
    const changes = [
      { table: 'mcp_grants', id, before: { server_id: person.serverId, user_id: person.userId, issuer: row.issuer }, after: null },
    ]
    const done = { action: 'end', resourceType: 'mcp-connection', resourceId: id, changes, at: deps.clock.now() }
    await writeAudit(em, deps.vault, jobEntry({ job: 'mcp-tokens', organisationId, workspaceId: server?.workspace ?? null, ...done }))
    return true
  })
}
