import type { EntityManager } from '@mikro-orm/postgresql'
import { inTenant } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import { ApiError } from '../../../lib/errors.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { takeGroups, type Provider } from '../../identity-providers/index.ts'
import { hold } from '../../scim/index.ts'
import { groupsIn, verifiedEmail } from '../claims.ts'
import { personOf, presentPerson, type VouchedPerson } from '../people.ts'
import { shownClaims } from './shown-claims.ts'
import type { Outcome } from './test-sign-in.schema.ts'

/** Ends the transaction of a trial, so that none of its changes stay. */
class TrialRollback extends Error {}

/** Returns the outcome of a person's sign-in: it is done as usual, and undone. */
export async function outcomeOf(deps: Deps, provider: Provider, vouched: VouchedPerson): Promise<Outcome> {
  const { claims, leftOut } = shownClaims(vouched.claims)
  const groups = provider.group_claim === null ? null : groupsIn(vouched.claims, provider.group_claim)
  return {
    ...nobody(provider),
    subject: vouched.identity.subject,
    email: verifiedEmail(vouched.claims, provider.email_verified_claim),
    groups: groups === null ? null : [...groups],
    claims,
    claims_left_out: leftOut,
    ...(await standing(deps, provider, { vouched, groups })),
  }
}

/** Returns the outcome for a person who did not even come so far. */
export const failed = (provider: Provider, error: ApiError): Outcome => ({ ...nobody(provider), error: toldOf(error) })

const nobody = ({ issuer }: Provider): Outcome => ({
  ok: false,
  error: null,
  issuer,
  subject: null,
  email: null,
  person: null,
  user_id: null,
  role: null,
  groups: null,
  workspaces: [],
  claims: {},
  claims_left_out: [],
})

const toldOf = ({ code, message }: ApiError) => ({ code, message })

interface Come {
  readonly vouched: VouchedPerson
  readonly groups: readonly string[] | null
}

type TrialResult = Pick<Outcome, 'ok' | 'error' | 'person' | 'user_id' | 'role' | 'workspaces'>

async function standing(deps: Deps, provider: Provider, { vouched, groups }: Come): Promise<Partial<TrialResult>> {
  let found: TrialResult | null = null
  try {
    await inTenant(deps.orm, provider.organisationId, async (em) => {
      if (groups !== null) await hold(em, provider.organisationId)
      const present = await presentPerson(em, provider, vouched)
      const user = await personOf(em, deps, { ...vouched, provider, newId: uuidv7() })
      if (groups !== null) await takeGroups(em, deps, { user, names: groups })
      await em.flush()
      found = {
        ok: true,
        error: null,
        person: present?.status === 'active' ? 'known' : 'new',
        user_id: present?.status === 'active' ? user.id : null,
        role: user.role,
        workspaces: await placesOf(em, user.id),
      }
      throw new TrialRollback()
    })
  } catch (error) {
    if (error instanceof ApiError) return { error: toldOf(error) }
    if (!(error instanceof TrialRollback)) throw error
  }
  return found ?? {}
}

const placesOf = (em: EntityManager, userId: string): Promise<Outcome['workspaces']> =>
  em.execute<Outcome['workspaces']>(
    `SELECT w.id AS workspace_id, w.slug, w.name, m.role, m.by_group FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
      WHERE m.user_id = ? AND w.status = 'active' ORDER BY w.name, w.id LIMIT 1000`,
    [userId],
  )
