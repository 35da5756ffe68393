import type { EntityManager } from '@mikro-orm/postgresql'
import type { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor, Call } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { signIn } from '../auth/index.ts'
import { takeGroups, type Provider } from '../identity-providers/index.ts'
import { hold } from '../scim/index.ts'
import { actorOf } from './actor.ts'
import { groupsIn } from './claims.ts'
import { personOf, presentPerson, type VouchedPerson } from './people.ts'
import type { comeBack } from './sso.schema.ts'
import { outcomeOf } from './trial/outcome.ts'
import { finishTest, isTester, testerOf } from './trial/trial.ts'

/** Something of a sign-in that serves once. */
export interface SingleUseMark {
  /** Its name and value; only a hash is kept. */
  readonly mark: string
  /** Until when it could come again, epoch milliseconds. */
  readonly until: number
}

/** A person who has come back from a provider that vouches for them. */
export interface Arrival {
  readonly provider: Provider
  readonly vouched: VouchedPerson
  /** The path where they go on. */
  readonly returnTo: string
  readonly once: readonly SingleUseMark[]
  /** The id of the test sign-in that it is; undefined: it is a real one. */
  readonly test?: string | undefined
  /** The `Set-Cookie` by which the browser forgets the way that it has come; absent: it needs none. */
  readonly cookie?: string
}

const arrivals = new WeakMap<Actor, Arrival>()

/** Returns the caller that an arrival makes, before the transaction of their request begins. */
export async function welcome(deps: Deps, arrival: Arrival): Promise<Actor> {
  const { provider, vouched, test } = arrival
  if (test !== undefined) return testerOf(provider.organisationId, { id: test, outcome: await outcomeOf(deps, provider, vouched) })
  const user = await inTenant(deps.orm, provider.organisationId, (em) => presentPerson(em, provider, vouched))
  const email = vouched.claims['email']
  const name = user?.email ?? (typeof email === 'string' ? email.slice(0, 320) : null)
  const id = user?.id ?? uuidv7()
  const actor = actorOf(provider.organisationId, { type: 'user', id, name, userId: id })
  arrivals.set(actor, arrival)
  return actor
}

/** Opens the session of an arrived person, with the places that their groups give, and sends the browser on. */
export async function enter(call: Call<unknown, unknown, unknown>): Promise<z.input<typeof comeBack>> {
  const { em, deps, actor, reply, audit } = call
  if (isTester(actor)) return { test_sign_in: await finishTest(call) }
  const arrival = arrivals.get(actor)
  if (arrival === undefined) throw new Error('the caller was not identified by a sign-in')
  const { provider, vouched, returnTo, cookie } = arrival
  await useOnce(em, deps, arrival)
  const groups = provider.group_claim === null ? null : groupsIn(vouched.claims, provider.group_claim)
  // Ahead of the person, as SCIM does, which may be writing the same one.
  if (groups !== null) await hold(em, provider.organisationId)
  const user = await personOf(em, deps, { ...vouched, provider, newId: actor.id })
  const changes = groups === null ? [] : await takeGroups(em, deps, { user, names: groups })
  const { session, endsAt, token } = vouched
  const opened = await signIn(call, user, { method: provider.type, provider: { ...vouched.identity, session, endsAt, token } })
  if (cookie !== undefined) reply.cookie(cookie)
  reply.redirect(returnTo)
  audit({ id: opened.session.id, changes })
  return {}
}

/** The second of two arrivals with the same mark is refused, in any process. */
async function useOnce(em: EntityManager, { vault }: Deps, { provider, once }: Arrival): Promise<void> {
  for (const { mark, until } of once) {
    const used = await em.execute<unknown[]>(
      'INSERT INTO used_sign_ins (state_hash, organisation_id, expires_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING organisation_id',
      [vault.hashKey(mark), provider.organisationId, new Date(until)],
    )
    if (used.length === 0) throw new ApiError('AB05', 'This sign-in has been used. Begin again.', { param: 'state' })
  }
}
