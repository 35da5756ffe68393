import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../../app/deps.ts'
import type { Filter } from '../filter/filter.ts'
import { matches } from '../filter/matches.ts'
import { parsePath } from '../filter/parse-filter.ts'
import { createWork, spend, type Work } from '../filter/work.ts'
import { rolesInName } from '../group-name.ts'
import type { ScimGroup } from '../scim-group.entity.ts'
import { scimError } from '../scim-error.ts'
import type { Attribute } from '../schema/attribute.ts'
import { groups } from '../schema/group.ts'
import { locate } from '../schema/locate.ts'
import { isObject, normalise, type Document } from '../schema/normalise.ts'
import { applyPatch, type Operation } from '../schema/patch.ts'
import { addMembers, lockMembers, memberIds, nobodyMoved, removeMembers, setMembers, type MemberChanges } from './members.ts'
import { membersOf } from './group-rows.ts'

type NamingDeps = Pick<Deps, 'config' | 'level'>

/** Gives a group its name, and the roles that the name states. */
export function nameGroup(group: ScimGroup, displayName: string, { config, level }: NamingDeps): void {
  const { workspace, organisation } = rolesInName(displayName, config.scim.names, { anyCase: level.atLeast('1.6.1') })
  Object.assign(group, {
    displayName,
    namedWorkspace: workspace?.named ?? null,
    namedRole: workspace?.role ?? null,
    organisationRole: organisation,
  })
}

const longestName = 255

/** Gives a group the name and the identifier of a document. Throws `invalidValue`, `uniqueness`. */
export async function describeGroup(
  em: EntityManager,
  group: ScimGroup,
  { document, deps }: { readonly document: Document; readonly deps: NamingDeps },
) {
  const displayName = typeof document['displayName'] === 'string' ? document['displayName'].trim() : ''
  if (displayName === '') throw scimError('invalidValue', '`displayName` is missing.', 'displayName')
  if (displayName.length > longestName)
    throw scimError('invalidValue', `\`displayName\` is longer than ${longestName} characters.`, 'displayName')
  if (displayName !== group.displayName && (await isTaken(em, group, displayName)))
    throw scimError('uniqueness', `There is a group with the name ${displayName} already.`, 'displayName')
  nameGroup(group, displayName, deps)
  group.externalId = typeof document['externalId'] === 'string' ? document['externalId'] : null
}

async function isTaken(em: EntityManager, { id, organisationId }: ScimGroup, displayName: string): Promise<boolean> {
  const [other] = await em.execute<{ id: string }[]>(
    'SELECT id FROM scim_groups WHERE organisation_id = ? AND lower(display_name) = lower(?) AND id <> ?',
    [organisationId, displayName, id],
  )
  return other !== undefined
}

/** A PATCH of a group. */
interface GroupPatch {
  readonly group: ScimGroup
  readonly operations: readonly Operation[]
  /** True: users state the members of a group; operations on members are skipped. */
  readonly skipMembers: boolean
}

/** Applies the operations of a PATCH in their order. Returns the document, and the changed members. */
export async function patchGroup(em: EntityManager, { group, operations, skipMembers }: GroupPatch) {
  let document: Document = { displayName: group.displayName, ...(group.externalId && { externalId: group.externalId }) }
  const moves: Move[] = []
  const work = createWork()
  for (const operation of operations.flatMap(split)) {
    const attribute = membersNamedBy(operation)
    if (attribute === null) document = applyPatch(groups, document, { operations: [operation], work })
    else if (!skipMembers) moves.push(moveOf(operation, attribute))
  }
  const all = document['displayName'] !== group.displayName || moves.some(({ op, ids }) => op === 'replace' || ids === null)
  await lockMembers(em, group.id, { named: moves.flatMap(({ ids }) => ids ?? []), all })
  const moved: MemberChanges[] = []
  for (const move of moves) moved.push(await moveMembers(em, group, { ...move, work }))
  return { document, moved: sumOf(moved) }
}

/** An operation without a path is one for each name in its value. */
function split(operation: Operation): readonly Operation[] {
  const { op, path, value } = operation
  if ((path !== undefined && path !== '') || op === 'remove' || !isObject(value)) return [operation]
  return Object.entries(value).flatMap(([name, part]) =>
    locate(groups, name) === null || isServers(name) ? [] : [{ op, path: name, value: part }],
  )
}

const isServers = (name: string) => locate(groups, name)?.attribute.mutability === 'readOnly'

function membersNamedBy({ path }: Operation): Attribute | null {
  if (path === undefined || path === '') return null
  const found = locate(groups, parsePath(path).path)
  return found?.attribute.name === 'members' ? found.attribute : null
}

/** An operation on members. */
interface Move {
  readonly op: Operation['op']
  /** The members that it names; null: it names none. */
  readonly ids: readonly string[] | null
  /** Its filter of members; null: it has none. */
  readonly where: Filter | null
  readonly attribute: Attribute
}

/** Reads an operation on members. Throws `mutability`, `invalidValue`. */
function moveOf({ op, path = '', value }: Operation, attribute: Attribute): Move {
  const { where, part } = parsePath(path)
  if (part !== null) throw scimError('mutability', 'The parts of a member cannot be changed.', 'path')
  if (where !== null && op !== 'remove')
    throw scimError('mutability', 'A member cannot be changed: remove it, and add another one.', 'path')
  const told = where === null ? value : idIn(where)
  return { op, where, attribute, ids: told === undefined || told === null ? null : memberIds(told) }
}

/** `members[value eq "…"]`: of a large group only the one member is looked at. */
const idIn = (where: Filter) =>
  where.op === 'compare' && where.operator === 'eq' && where.path.toLowerCase() === 'value' ? where.value : null

type MoveTask = Move & { readonly work: Work }

async function moveMembers(em: EntityManager, group: ScimGroup, { op, ids, where, attribute, work }: MoveTask): Promise<MemberChanges> {
  if (op === 'remove') {
    const meant = ids ?? (where === null ? null : await membersMeant(em, group, { where, attribute, work }))
    return { ...nobodyMoved, removed: await removeMembers(em, group.id, meant) }
  }
  const [ofGroup, sent] = [{ organisationId: group.organisationId, groupId: group.id }, ids ?? []]
  return op === 'add' ? { sent, added: await addMembers(em, ofGroup, sent), removed: [] } : setMembers(em, ofGroup, sent)
}

interface MemberFilter {
  readonly where: Filter
  readonly attribute: Attribute
  readonly work: Work
}

/** To read a member takes so many steps. */
const stepsOfMember = 50

async function membersMeant(em: EntityManager, group: ScimGroup, { where, attribute, work }: MemberFilter): Promise<readonly string[]> {
  const members = await membersOf(em, [group.id])
  spend(work, stepsOfMember * members.length)
  return members.filter(({ id, display }) => matches({ value: id, display, type: 'User' }, where, { attribute, work })).map(({ id }) => id)
}

const sumOf = (moves: readonly MemberChanges[]): MemberChanges => ({
  sent: [...sentBy(moves)],
  added: [...new Set(moves.flatMap(({ added }) => added))],
  removed: [...new Set(moves.flatMap(({ removed }) => removed))],
})

/** Returns the members of the group from the whole document: without those that are sent, and taken out after that. */
function sentBy(moves: readonly MemberChanges[]): ReadonlySet<string> {
  const sent = new Set<string>()
  for (const move of moves) {
    for (const id of move.removed) sent.delete(id)
    for (const id of move.sent) sent.add(id)
  }
  return sent
}

/** Reads a whole group as a client sent it. */
export const groupDocument = (body: unknown): Document => normalise(groups, body)
