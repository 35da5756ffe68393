import type { EntityManager } from '@mikro-orm/postgresql'
import { LockMode } from '@mikro-orm/postgresql'
import { inTenant } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import type { Actor, Call } from '../../../app/route.ts'
import { ApiError } from '../../../lib/errors.ts'
import { actorOf } from '../actor.ts'
import { outcome, type Outcome } from './test-sign-in.schema.ts'
import { outcomePlace, TestSignIn } from './test-sign-in.entity.ts'

/** Returns the keyed hash of the secret in the URL of a test sign-in, as the database stores it. */
export const hashTest = ({ vault }: Pick<Deps, 'vault'>, token: string): Buffer => vault.hashKey(`test-sign-in:${token}`)

const over = () =>
  new ApiError('AB05', 'This test sign-in was used, or its time is over. Begin another: POST /v1/admin/organisation/sso/test-sign-ins.', {
    param: 'test',
  })

/** Returns the id of the test sign-in that a URL begins. AB05 if it has ended. */
export async function openTest(deps: Deps, organisationId: string, token: string): Promise<string> {
  const row = await inTenant(deps.orm, organisationId, (em) =>
    em.findOne(TestSignIn, { organisationId, tokenHash: hashTest(deps, token), finishedAt: null }),
  )
  if (row === null || row.expiresAt.getTime() <= deps.clock.now()) throw over()
  return row.id
}

interface TrialRecord {
  readonly id: string
  readonly outcome: Outcome
}

const tried = new WeakMap<Actor, TrialRecord>()

/** Returns the caller of a test sign-in that comes back: they may do nothing. */
export function testerOf(organisationId: string, trial: TrialRecord): Actor {
  const actor = actorOf(organisationId, { type: 'invite', id: trial.id, name: 'test sign-in' })
  tried.set(actor, trial)
  return actor
}

/** Returns true if the caller comes back from a test sign-in. */
export const isTester = (actor: Actor): boolean => tried.has(actor)

/** Keeps the outcome of a test sign-in, and shows it to the person who has signed in: it is about themselves. */
export async function finishTest({ em, deps, actor, audit }: Pick<Call<unknown, unknown, unknown>, 'em' | 'deps' | 'actor' | 'audit'>) {
  const trial = tried.get(actor)
  if (trial === undefined) throw new Error('no sign-in was tested')
  const row = await em.findOne(TestSignIn, { id: trial.id, finishedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (row === null) throw over()
  row.finishedAt = new Date(deps.clock.now())
  row.outcome = Buffer.from(await deps.vault.encrypt(outcomePlace(row), JSON.stringify(trial.outcome)))
  await em.flush()
  audit({ id: row.id, type: 'test-sign-in', action: 'finish' })
  return present(row, trial.outcome)
}

/** Returns a test sign-in as callers see it. */
export async function presentTest({ vault }: Pick<Deps, 'vault'>, row: TestSignIn) {
  const kept = row.outcome ? outcome.parse(JSON.parse(await vault.decrypt(outcomePlace(row), row.outcome))) : null
  return present(row, kept)
}

const present = (row: TestSignIn, shown: Outcome | null) => ({
  object: 'test-sign-in' as const,
  id: row.id,
  expires_at: row.expiresAt.toISOString(),
  finished_at: row.finishedAt?.toISOString() ?? null,
  outcome: shown,
  created_at: row.createdAt.toISOString(),
})

/** The longest time until the sign-in begins. */
const waitMs = 3_600_000
const mostKept = 20

/** Makes a test sign-in; of those before only the latest stay. */
export async function makeTest(em: EntityManager, deps: Deps, { organisationId, token }: { organisationId: string; token: string }) {
  const where = { organisationId }
  for (const old of await em.find(TestSignIn, where, { orderBy: { createdAt: 'desc' }, offset: mostKept - 1 })) em.remove(old)
  const expiresAt = new Date(deps.clock.now() + waitMs)
  const row = em.create(TestSignIn, { organisationId, tokenHash: hashTest(deps, token), expiresAt })
  await em.flush()
  return row
}

/** Rows live for a day. */
export const pruneTests = 'DELETE FROM test_sign_ins WHERE created_at <= ?'
export const testLifeMs = 86_400_000
