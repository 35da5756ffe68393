import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { notFound } from '../../../app/database/find.ts'
import type { Deps } from '../../../app/deps.ts'
import { route, type Call } from '../../../app/route.ts'
import { isUuid } from '../../../lib/is-uuid.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { answered, isNamed, nothing, resourceAnswer, scimAnswer, type ScimAnswer } from '../answer.ts'
import { scimBase } from '../base-url.ts'
import { hold } from '../hold.ts'
import { listAnswer, listQuery, windowOf } from '../list-query.ts'
import { isByUsers } from '../membership-mode.ts'
import { anyBody, operationsOf } from '../patch-body.ts'
import { givesPlaces, settlePlaces } from '../places.ts'
import { returnArchived } from '../return-archived.ts'
import { outdated } from '../scim-error.ts'
import { ScimGroup } from '../scim-group.entity.ts'
import { groups } from '../schema/group.ts'
import { asksFor, project, projectionOf, type Projection } from '../schema/project.ts'
import { groupColumns, groupSource, groupVersion, membersOf, presentGroup, readGroup, type GroupRow } from './group-rows.ts'
import { describeGroup, groupDocument, patchGroup } from './group-write.ts'
import { addMembers, lockMembers, memberIds, movedChange, nobodyMoved, renewMembers, setMembers, type MemberChanges } from './members.ts'
import { readList } from './list.ts'

const permission: readonly string[] = []
const resource = 'scim-group'
const params = z.object({ id: z.string() })
const query = listQuery.pick({ attributes: true, excludedAttributes: true })
type ResourceQuery = z.output<typeof query>
type AnyCall = Call<unknown, unknown, unknown>

export const listScimGroups = route({
  method: 'GET',
  path: '/Groups',
  summary: 'List groups',
  permission,
  query: listQuery,
  response: scimAnswer,
})(async ({ em, actor: { organisationId }, deps, query: asked }) => {
  const [window, projection] = [windowOf(asked, deps.level), projectionOf(asked)]
  const { rows, total } = await readList(em, {
    read: (sql, values) => em.execute<GroupRow[]>(sql, [...values]),
    source: groupSource(deps.level.atLeast('1.7.1')),
    tables: 'scim_groups g',
    columns: groupColumns,
    alias: 'g',
    base: { sql: 'g.organisation_id = ?', values: [organisationId] },
    shortcut: (name, value) => (name === 'displayName' ? { sql: 'lower(g.display_name) = lower(?)', values: [value] } : null),
    filter: asked.filter,
    sortBy: asked.sortBy,
    window,
  })
  const base = scimBase(deps.config)
  const members = await membersAskedFor(em, projection, rows)
  const resources = rows.map((row) =>
    project(presentGroup(row, { base, members: members === null ? null : (members.get(row.id) ?? []) }), groups, projection),
  )
  return answered(listAnswer(resources, { total, startIndex: window.startIndex }))
})

export const readScimGroup = route({
  method: 'GET',
  path: '/Groups/:id',
  summary: 'Read a group',
  permission,
  params,
  query,
  response: scimAnswer,
})(async (call) => answerGroup(call, { id: call.params.id, asked: call.query, ifNoneMatch: call.headers['if-none-match'] }))

export const createScimGroup = route({
  method: 'POST',
  path: '/Groups',
  summary: 'Add a group',
  permission,
  resource,
  action: 'create',
  query,
  body: anyBody,
  response: scimAnswer,
})(async (call) => {
  const { em, actor, deps, body } = call
  const { organisationId } = actor
  await hold(em, organisationId)
  const document = groupDocument(body)
  const group = em.create(ScimGroup, { id: uuidv7(), organisationId, displayName: '', version: 1 })
  await describeGroup(em, group, { document, deps })
  const members = isByUsers(deps) ? [] : memberIds(document['members'] ?? [])
  await lockMembers(em, group.id, { named: members, all: false })
  await em.flush()
  const added = await addMembers(em, { organisationId, groupId: group.id }, members)
  await settle(call, { group, moved: { sent: members, added, removed: [] }, renamed: false })
  return answerGroup(call, { id: group.id, asked: call.query, made: true })
})

export const replaceScimGroup = route({
  method: 'PUT',
  path: '/Groups/:id',
  summary: 'Replace a group',
  permission,
  resource,
  action: 'update',
  params,
  query,
  body: anyBody,
  response: scimAnswer,
})(async (call) => {
  const { em, deps, body } = call
  const group = await lockedGroup(call, call.params.id)
  const [document, before] = [groupDocument(body), group.displayName]
  await describeGroup(em, group, { document, deps })
  const ofGroup = { organisationId: group.organisationId, groupId: group.id }
  const [sent, renamed] = [isByUsers(deps) ? null : memberIds(document['members'] ?? []), before !== group.displayName]
  await lockMembers(em, group.id, { named: sent ?? [], all: sent !== null || renamed })
  const moved = sent === null ? nobodyMoved : await setMembers(em, ofGroup, sent)
  await settle(call, { group, moved, renamed })
  return answerGroup(call, { id: group.id, asked: call.query })
})

export const patchScimGroup = route({
  method: 'PATCH',
  path: '/Groups/:id',
  summary: 'Change a group',
  permission,
  resource,
  action: 'update',
  params,
  query,
  body: anyBody,
  response: scimAnswer,
})(async (call) => {
  const { em, deps, body } = call
  const group = await lockedGroup(call, call.params.id)
  const before = group.displayName
  const { document, moved } = await patchGroup(em, { group, operations: operationsOf(body), skipMembers: isByUsers(deps) })
  await describeGroup(em, group, { document, deps })
  await settle(call, { group, moved, renamed: before !== group.displayName })
  return answerGroup(call, { id: group.id, asked: call.query })
})

export const deleteScimGroup = route({
  method: 'DELETE',
  path: '/Groups/:id',
  summary: 'Delete a group; its members keep no place that only it gave',
  permission,
  resource,
  action: 'delete',
  params,
  response: scimAnswer,
})(async (call) => {
  const { em, actor, deps, audit } = call
  const group = await lockedGroup(call, call.params.id)
  await lockMembers(em, group.id, { named: [], all: true })
  const members = (await givesPlaces(em, deps, group)) ? await membersOf(em, [group.id]) : []
  await renewMembers(em, deps, group.id)
  em.remove(group)
  await em.flush()
  const changes = await settlePlaces(em, deps, {
    organisationId: actor.organisationId,
    userIds: members.map(({ id }) => id),
    by: { actor, param: 'members' },
  })
  audit({ id: group.id, changes })
  return nothing
})

/** Reads a group that is about to change, and holds all writes by SCIM until then. Throws AB08, and `precondition_failed`. */
async function lockedGroup({ em, actor: { organisationId }, headers }: AnyCall, id: string): Promise<ScimGroup> {
  await hold(em, organisationId)
  const group = isUuid(id) ? await em.findOne(ScimGroup, { id: id.toLowerCase(), organisationId }) : null
  if (group === null) throw notFound('group', id)
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined && !isNamed(ifMatch, groupVersion(group))) throw outdated()
  return group
}

interface Change {
  readonly group: ScimGroup
  readonly moved: MemberChanges
  /** True: the name may give all members other roles. */
  readonly renamed: boolean
}

async function settle({ em, actor, deps, audit }: AnyCall, change: Change): Promise<void> {
  const { organisationId } = actor
  const { group, moved, renamed } = change
  group.version += 1
  await em.flush()
  if (renamed) await renewMembers(em, deps, group.id)
  const returned = await returnArchived(em, organisationId, moved.sent)
  const userIds = [...new Set([...(await toSettle(em, deps, change)), ...returned.map(({ id }) => id)])]
  const changes = await settlePlaces(em, deps, { organisationId, userIds, by: { actor, param: renamed ? 'displayName' : 'members' } })
  audit({ id: group.id, changes: [...movedChange(group.id, moved), ...returned, ...changes] })
}

/** Returns the people whose places a change may change; most groups give none. */
async function toSettle(em: EntityManager, deps: Pick<Deps, 'level'>, { group, moved, renamed }: Change): Promise<readonly string[]> {
  if (!renamed && !(await givesPlaces(em, deps, group))) return []
  const all = renamed ? (await membersOf(em, [group.id])).map(({ id }) => id) : []
  return [...moved.added, ...moved.removed, ...all]
}

interface GroupAnswer {
  readonly id: string
  readonly asked: ResourceQuery
  readonly ifNoneMatch?: string | undefined
  readonly made?: boolean
}

async function answerGroup({ em, actor, deps }: AnyCall, { id, asked, ifNoneMatch, made }: GroupAnswer): Promise<ScimAnswer> {
  const row = isUuid(id) ? await readGroup(em, actor.organisationId, id.toLowerCase()) : null
  if (row === null) throw notFound('group', id)
  const [projection, base] = [projectionOf(asked), scimBase(deps.config)]
  const members = await membersAskedFor(em, projection, [row])
  const shown = presentGroup(row, { base, members: members === null ? null : (members.get(row.id) ?? []) })
  const about = { version: groupVersion(row), location: `${base}/Groups/${row.id}` }
  return resourceAnswer(project(shown, groups, projection), { ...about, ifNoneMatch, ...(made === true && { made }) })
}

/** The members of groups, if the answer has them: a group may have thousands. */
async function membersAskedFor(em: EntityManager, projection: Projection, rows: readonly GroupRow[]) {
  if (!asksFor(projection, groups, 'members')) return null
  return Map.groupBy(
    await membersOf(
      em,
      rows.map(({ id }) => id),
    ),
    ({ group_id }) => group_id,
  )
}
