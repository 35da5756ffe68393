import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import { route } from '../../app/route.ts'
import { makeFirstOwner } from '../../app/start/first-owner.ts'
import { ApiError } from '../../lib/errors.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { holderOf, useLink } from '../sessions/index.ts'
import { User } from '../users/user.entity.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { setupBody, setupState, signedIn } from './auth.schema.ts'
import { demandLocal } from './local.ts'
import { nobody } from './nobody.ts'
import { setPassword } from './passwords.ts'
import { signIn } from './sign-in.ts'

const state = `
  SELECT EXISTS (SELECT FROM users u WHERE u.organisation_id = o.id AND u.role = 'owner' AND u.status = 'active') AS owner,
         EXISTS (SELECT FROM providers p WHERE p.organisation_id = o.id) AS provider,
         EXISTS (SELECT FROM api_keys k WHERE k.organisation_id = o.id AND k.creation_mode <> 'auto') AS "key",
         EXISTS (SELECT FROM logs l WHERE l.organisation_id = o.id) AS request
    FROM organisations o WHERE o.status = 'active' ORDER BY o.created_at, o.id LIMIT 1`

const unknown = { owner: false, provider: false, key: false, request: false }

export const readSetup = route({
  method: 'GET',
  path: '/auth/setup',
  below: '/',
  summary: 'List the missing parts of a new installation',
  permission: [],
  identify: nobody,
  before: async (_, deps) => (await asSystem(deps.orm, (em) => em.execute<(typeof unknown)[]>(state)))[0] ?? unknown,
  response: setupState,
})(async ({ found }) => (found.owner ? { owner: true, provider: null, key: null, request: null } : found))

export const setUp = route({
  method: 'POST',
  path: '/auth/setup',
  below: '/',
  summary: 'Become the owner of an organisation, or get back in, by a one-time link of the command line',
  permission: [],
  identify: ({ body }, deps) => (demandLocal(deps), holderOf(deps, body.token, ['setup'])),
  resource: 'user',
  action: 'set-up',
  body: setupBody,
  response: signedIn,
})(async (call) => {
  const { em, deps, actor, body, audit } = call
  const link = await useLink(em, actor, deps)
  const user = link.userId ? await ownerOf(em, link.userId, body.email) : await newOwner(em, actor.organisationId, body)
  await rename(em, actor.organisationId, body)
  await setPassword(em, deps, { user, password: body.password, keeps: null })
  const { answer } = await signIn(call, user, { method: 'link' })
  audit({ id: user.id, changes: [{ table: 'users', id: user.id, before: null, after: { email: user.email, role: 'owner' } }] })
  return answer
})

/** The link is of this person, who has to see the address of the account. */
async function ownerOf(em: EntityManager, id: string, email: string): Promise<User> {
  const user = await em.findOne(User, { id, email, status: 'active' })
  if (user !== null) return user
  throw new ApiError('AB01', 'This link is of another person.', { param: 'email' })
}

interface Owner {
  readonly email: string
  readonly first_name?: string | undefined
  readonly last_name?: string | undefined
}

async function newOwner(em: EntityManager, organisationId: string, { email, first_name, last_name }: Owner): Promise<User> {
  const id = await makeFirstOwner(em, { organisationId, email, firstName: first_name ?? null, lastName: last_name ?? null })
  if (id === null) throw new ApiError('AB07', 'The organisation has an owner already.', { param: 'token' })
  return em.findOneOrFail(User, { id })
}

async function rename(em: EntityManager, id: string, names: { organisation?: string | undefined; workspace?: string | undefined }) {
  if (names.organisation !== undefined) (await em.findOneOrFail(Organisation, { id })).name = names.organisation
  if (names.workspace === undefined) return
  const workspace = await em.findOne(Workspace, { organisationId: id, isDefault: true })
  if (workspace !== null) workspace.name = names.workspace
}
