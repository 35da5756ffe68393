import { z } from 'zod'
import type { EntityManager } from '@mikro-orm/postgresql'
import { flushUnique } from '../../app/database/find.ts'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { route } from '../../app/route.ts'
import { makeFirstOwner } from '../../app/start/first-owner.ts'
import { ApiError } from '../../lib/errors.ts'
import { freeSlug, nameField, slugField, toSlug } from '../../lib/text/slug.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { lockPeople, makeLink } from '../sessions/index.ts'
import { emailField } from '../users/index.ts'
import { User } from '../users/user.entity.ts'
import { addWorkspace } from '../workspaces/index.ts'
import { demandLocal, isLocal } from './local.ts'
import { isOfProvider } from './of-provider.ts'

/** The only answer that ever holds the link. */
export const setupLink = z.object({ url: z.url(), expires_at: z.iso.datetime() })

/**
 * Makes a one-time link by which a person becomes the first owner, or an owner who cannot sign in gets a new password. The operator runs it on the
 * installation; it is not part of the API. AB08 when no owner of the organisation has this address, AB01 without an address when it has an owner.
 */
export const createSetupLink = route({
  method: 'POST',
  path: '/owner/link',
  summary: 'Make a one-time link to a password of an owner',
  permission: 'organisation_users.create',
  resource: 'user',
  action: 'invite',
  body: z.strictObject({ email: emailField.optional() }),
  response: setupLink,
})(async ({ em, actor: { organisationId }, deps, body: { email }, audit }) => {
  demandLocal(deps)
  const known = await em.find(User, { organisationId, role: 'owner', status: 'active' })
  const here = await lockPeople(
    em,
    known.map(({ id }) => id),
  )
  const owners = known.filter(({ id }) => here.has(id))
  const owner = owners.find((user) => user.email === email)
  if (owners.length > 0 && email === undefined)
    throw new ApiError('AB01', 'The organisation has an owner: name by --email the one that the link is for.', { param: 'email' })
  if (owner === undefined && email !== undefined)
    throw new ApiError('AB08', `${email} is no owner of the organisation.${owners.length > 0 ? '' : ' It has none: leave --email out.'}`, {
      param: 'email',
    })
  const { url, expiresAt } = await makeLink(em, deps, { organisationId, userId: owner?.id ?? null, purpose: 'setup' })
  audit({ id: owner?.id ?? organisationId })
  return { url, expires_at: expiresAt.toISOString() }
})

/**
 * Makes a one-time link by which a person who is no owner sets a password. The operator runs it on the installation; it is not part of the API. AB08 for
 * an address without a person, AB01 for an owner and for a person whom the identity provider alone lets in.
 */
export const createPeopleLink = route({
  method: 'POST',
  path: '/people/link',
  summary: 'Make a one-time link to a password of a person',
  permission: 'organisation_users.update',
  resource: 'user',
  action: 'send-link',
  body: z.strictObject({ email: emailField }),
  response: setupLink,
})(async ({ em, actor: { organisationId }, deps, body: { email }, audit }) => {
  demandLocal(deps)
  const person = await em.findOne(User, { organisationId, email, status: 'active' })
  if (person === null || !(await lockPeople(em, [person.id])).has(person.id))
    throw new ApiError('AB08', `${email} is no person of the organisation. Invite them first.`, { param: 'email' })
  if (person.role === 'owner') throw new ApiError('AB01', `${email} is an owner: gatehouse owner link makes the link.`, { param: 'email' })
  if (await isOfProvider(em, person.id))
    throw new ApiError(
      'AB01',
      `${email} signs in by the identity provider. Passwords beside it are off: settings.session_settings.allow_passwords_beside_provider.`,
      { param: 'email' },
    )
  const { url, expiresAt } = await makeLink(em, deps, { organisationId, userId: person.id, purpose: 'password', byHand: true })
  audit({ id: person.id })
  return { url, expires_at: expiresAt.toISOString() }
})

/** The only answer that ever holds the link; null where people sign in by their identity provider alone. */
export const createdOrganisation = z.object({
  organisation_id: z.uuid(),
  organisation: z.string(),
  workspace_id: z.uuid(),
  owner_id: z.uuid(),
  link: setupLink.nullable(),
})

/**
 * Makes a further organisation with its default workspace and its owner. The operator runs it on the installation, as an actor whose
 * organisation is the one to be made; it is not part of the API. AB07 when another has the slug.
 */
export const createOrganisation = route({
  method: 'POST',
  path: '/organisations',
  summary: 'Make an organisation, its default workspace and its owner',
  permission: 'organisation_settings.update',
  resource: 'organisation',
  action: 'create',
  body: z.strictObject({ name: nameField, slug: slugField.optional(), workspace: nameField, owner: emailField }),
  response: createdOrganisation,
})(async ({ em, actor, deps, body, audit }) => {
  const { organisationId: id } = actor
  const slug = body.slug ?? (await freeSlug(toSlug(body.name, 'organisation'), (candidate) => isTaken(deps, candidate)))
  const row = em.create(Organisation, { id, slug, name: body.name, settings: {}, defaults: {} })
  await flushUnique(em, `Another organisation has the slug ${slug}.`, 'slug')
  const named = { name: body.workspace, slug: toSlug(body.workspace, 'workspace') }
  const workspace = await addWorkspace(em, { actor, vault: deps.vault, config: deps.config }, named)
  workspace.isDefault = true
  const ownerId = await ownerOf(em, id, body.owner)
  const made = isLocal(deps) ? await makeLink(em, deps, { organisationId: id, userId: ownerId, purpose: 'setup' }) : null
  audit({ id, changes: [{ table: 'organisations', id, before: null, after: { name: row.name, slug, owner: body.owner } }] })
  return {
    organisation_id: id,
    organisation: slug,
    workspace_id: workspace.id,
    owner_id: ownerId,
    link: made && { url: made.url, expires_at: made.expiresAt.toISOString() },
  }
})

/** Returns whether any organisation has a slug: its own transaction sees only its own organisation. */
const isTaken = ({ orm }: Pick<Deps, 'orm'>, slug: string): Promise<boolean> =>
  asSystem(orm, async (em) => (await em.count(Organisation, { slug })) > 0)

async function ownerOf(em: EntityManager, organisationId: string, email: string): Promise<string> {
  const id = await makeFirstOwner(em, { organisationId, email })
  if (id === null) throw new ApiError('AB07', 'The organisation has an owner already.')
  return id
}
