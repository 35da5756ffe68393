import { isDeepStrictEqual } from 'node:util'
import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { deliverMails } from '../../../app/mail/outbox.ts'
import { route, type Call } from '../../../app/route.ts'
import { notFound } from '../../../app/database/find.ts'
import { isUuid } from '../../../lib/is-uuid.ts'
import { lockPeople } from '../../sessions/index.ts'
import { User } from '../../users/user.entity.ts'
import { answered, isNamed, nothing, resourceAnswer, scimAnswer, type ScimAnswer } from '../answer.ts'
import { scimBase } from '../base-url.ts'
import { hold } from '../hold.ts'
import { isByUsers } from '../membership-mode.ts'
import { listAnswer, listQuery, windowOf, type ListQuery } from '../list-query.ts'
import { anyBody, operationsOf } from '../patch-body.ts'
import { settlePlaces } from '../places.ts'
import { outdated } from '../scim-error.ts'
import { ScimUser } from '../scim-user.entity.ts'
import { normalise, type Document } from '../schema/normalise.ts'
import { applyPatch } from '../schema/patch.ts'
import { project, projectionOf } from '../schema/project.ts'
import { readList } from './list.ts'
import { setGroupsOfUser } from './members.ts'
import {
  groupsOf,
  isSeen,
  presentUser,
  readUser,
  userColumns,
  userDocument,
  userSource,
  userTables,
  userType,
  versionOf,
  type UserRow,
} from './user-rows.ts'
import { addUser, changeUser, removeUser, type UserWriteResult } from './user-write.ts'

const permission: readonly string[] = []
const resource = 'scim-user'
const params = z.object({ id: z.string() })
const query = listQuery.pick({ attributes: true, excludedAttributes: true })
type ResourceQuery = z.output<typeof query>
type AnyCall = Call<unknown, unknown, unknown>

export const listScimUsers = route({
  method: 'GET',
  path: '/Users',
  summary: 'List users',
  permission,
  query: listQuery,
  response: scimAnswer,
})(async ({ em, actor, deps, query: asked }) => answered(await listOf(em, { organisationId: actor.organisationId, deps, asked })))

async function listOf(
  em: EntityManager,
  { organisationId, deps, asked }: { readonly organisationId: string; readonly deps: AnyCall['deps']; readonly asked: ListQuery },
): Promise<Document> {
  const [window, projection, byUsers] = [windowOf(asked, deps.level), projectionOf(asked), isByUsers(deps)]
  const { rows, total } = await readList(em, {
    read: (sql, values) => em.execute<UserRow[]>(sql, [...values]),
    source: userSource(byUsers, deps.level.atLeast('1.7.1')),
    tables: userTables,
    columns: userColumns,
    alias: 'u',
    base: { sql: `u.organisation_id = ? AND ${isSeen}`, values: [organisationId] },
    shortcut: (name, value) => shortcut(organisationId, name, value),
    filter: asked.filter,
    sortBy: asked.sortBy,
    window,
  })
  const groups = byUsers
    ? Map.groupBy(
        await groupsOf(
          em,
          rows.map(({ id }) => id),
        ),
        ({ user_id }) => user_id,
      )
    : null
  const type = userType(byUsers)
  const resources = rows.map((row) =>
    project(
      presentUser(row, { base: scimBase(deps.config), groups: groups === null ? null : (groups.get(row.id) ?? []) }),
      type,
      projection,
    ),
  )
  return listAnswer(resources, { total, startIndex: window.startIndex })
}

/** Identity providers look for each of their users by one of these before they write. */
function shortcut(organisationId: string, name: string, value: string) {
  if (name === 'userName')
    return {
      sql: `u.id IN (SELECT id FROM scim_users WHERE organisation_id = ? AND user_name_lower = lower(?)
        UNION ALL SELECT id FROM users WHERE organisation_id = ? AND email = lower(?))`,
      values: [organisationId, value, organisationId, value],
    }
  if (name === 'externalId')
    return { sql: 'u.id IN (SELECT id FROM scim_users WHERE organisation_id = ? AND external_id = ?)', values: [organisationId, value] }
  return null
}

export const readScimUser = route({
  method: 'GET',
  path: '/Users/:id',
  summary: 'Read a user',
  permission,
  params,
  query,
  response: scimAnswer,
})(async (call) => {
  const row = await find(call.em, call.actor.organisationId, call.params.id)
  return presented(call, { row, asked: call.query, ifNoneMatch: call.headers['if-none-match'] })
})

export const createScimUser = route({
  method: 'POST',
  path: '/Users',
  summary: 'Add a user',
  permission,
  resource,
  action: 'create',
  query,
  body: anyBody,
  response: scimAnswer,
})(async (call) => {
  const { em, actor, deps, body } = call
  await hold(em, actor.organisationId)
  const document = normalise(userType(isByUsers(deps)), body)
  const row = await settle(call, saidGroups(body, document), await addUser(em, { client: actor, deps }, document))
  return presented(call, { row, asked: call.query, made: true })
})

export const replaceScimUser = route({
  method: 'PUT',
  path: '/Users/:id',
  summary: 'Replace a user',
  permission,
  resource,
  action: 'update',
  params,
  query,
  body: anyBody,
  response: scimAnswer,
})(async (call) => {
  const { em, actor, deps, body } = call
  const row = await lockedUser(call, call.params.id)
  const document = normalise(userType(isByUsers(deps)), body)
  const changed = await settle(call, saidGroups(body, document), await changeUser(em, { client: actor, deps }, { before: row, document }))
  return presented(call, { row: changed, asked: call.query })
})

export const patchScimUser = route({
  method: 'PATCH',
  path: '/Users/:id',
  summary: 'Change a user',
  permission,
  resource,
  action: 'update',
  params,
  query,
  body: anyBody,
  response: scimAnswer,
})(async (call) => {
  const { em, actor, deps, body } = call
  const row = await lockedUser(call, call.params.id)
  const [type, operations] = [userType(isByUsers(deps)), operationsOf(body)]
  const before = userDocument(row, isByUsers(deps) ? await groupsOf(em, [row.id]) : null)
  const document = applyPatch(type, before, { operations })
  const said = isDeepStrictEqual(before['groups'], document['groups']) ? undefined : (document['groups'] ?? [])
  const changed = await settle(call, said, await changeUser(em, { client: actor, deps }, { before: row, document }))
  return presented(call, { row: changed, asked: call.query })
})

export const deleteScimUser = route({
  method: 'DELETE',
  path: '/Users/:id',
  summary: 'Remove a user',
  permission,
  resource,
  action: 'delete',
  params,
  response: scimAnswer,
})(async (call) => {
  const { em } = call
  const row = await lockedUser(call, call.params.id)
  const user = await em.findOneOrFail(User, { id: row.id })
  if (user.status === 'active') await removeUser(em, user)
  em.remove(await em.find(ScimUser, { id: row.id }))
  call.audit({ id: row.id, changes: await setGroupsOfUser(em, user, []) })
  return nothing
})

/** Reads a user who is about to change, and holds all writes by SCIM until then. Throws AB08, and `precondition_failed`. */
async function lockedUser({ em, actor, headers }: AnyCall, id: string): Promise<UserRow> {
  await hold(em, actor.organisationId)
  if (isUuid(id)) await lockPeople(em, [id])
  const row = await find(em, actor.organisationId, id)
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined && !isNamed(ifMatch, versionOf(row))) throw outdated()
  return row
}

async function find(em: EntityManager, organisationId: string, id: string): Promise<UserRow> {
  const row = isUuid(id) ? await readUser(em, organisationId, id.toLowerCase()) : null
  if (row === null) throw notFound('user', id)
  return row
}

/**
 * Returns the groups in a whole user; undefined: it has no list of them, and the user stays in the present ones. An empty list and null mean no
 * groups (RFC 7643, section 2.5), which a document of the schema cannot express.
 */
function saidGroups(body: Readonly<Record<string, unknown>>, document: Document): unknown {
  return Object.entries(body).some(saysNone) ? [] : document['groups']
}

const saysNone = ([name, value]: readonly [string, unknown]): boolean =>
  name.toLowerCase() === 'groups' && (value === null || (Array.isArray(value) && value.length === 0))

/**
 * Settles the consequences of a write: groups where users state them (undefined: as they are), places, and the row of the trail. Returns the user as
 * it is then.
 */
async function settle(
  { em, actor, deps, audit, afterCommit }: AnyCall,
  groups: unknown,
  { row, changes, settles }: UserWriteResult,
): Promise<UserRow> {
  const { organisationId } = actor
  // A changed address causes a mail.
  afterCommit(() => deliverMails(deps))
  const moved = isByUsers(deps) && groups !== undefined ? await setGroupsOfUser(em, { id: row.id, organisationId }, groups) : []
  const isSettled = !settles && moved.length === 0
  const placed = isSettled ? [] : await settlePlaces(em, deps, { organisationId, userIds: [row.id], by: { actor, param: 'groups' } })
  audit({ id: row.id, changes: [...changes, ...moved, ...placed] })
  return isSettled ? row : find(em, organisationId, row.id)
}

interface UserAnswer {
  readonly row: UserRow
  readonly asked: ResourceQuery
  readonly ifNoneMatch?: string | undefined
  readonly made?: boolean
}

async function presented({ em, deps }: AnyCall, { row, asked, ifNoneMatch, made }: UserAnswer): Promise<ScimAnswer> {
  const [projection, byUsers, base] = [projectionOf(asked), isByUsers(deps), scimBase(deps.config)]
  const shown = presentUser(row, { base, groups: byUsers ? await groupsOf(em, [row.id]) : null })
  const about = { version: versionOf(row), location: `${base}/Users/${row.id}` }
  return resourceAnswer(project(shown, userType(byUsers), projection), { ...about, ifNoneMatch, ...(made === true && { made }) })
}
