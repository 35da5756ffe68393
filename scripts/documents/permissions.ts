// The contents of the guide to permissions and of the reviewed matrix under `test/`, from the routes and the rules themselves.
import type { z } from 'zod'
import { callersOf, changesThings, wholePath, type CallerKind, type Route } from '../../src/app/route.ts'
import { features } from '../../src/features/index.ts'
import { accessSettings } from '../../src/lib/access/access-settings.ts'
import { enforcedMetadataFields } from '../../src/lib/access/enforced-metadata.ts'
import { userKeyCategory, userKeyFields } from '../../src/lib/access/user-key-settings.ts'
import {
  accessOf,
  accessOfService,
  accessOfSession,
  roles,
  type Access,
  type RouteDemands,
} from '../../src/lib/access/permission-matrix.ts'

interface Operation extends RouteDemands {
  readonly feature: string
  /** `GET /v1/prompts` */
  readonly name: string
  readonly summary: string
  readonly callers: readonly CallerKind[]
}

const documentedPath = (route: Route): string => wholePath(route).replaceAll(/:(\w+)/g, '{$1}')

const toOperation = (feature: string, route: Route): Operation => ({
  feature,
  name: `${route.method} ${documentedPath(route)}`,
  summary: route.summary,
  scopes: [route.permission].flat(),
  organisationKey: route.audience === 'organisation',
  writes: changesThings(route),
  callers: callersOf(route),
})

/** Everything that asks for a scope: the routes of the control plane, and calling models. */
const operations: readonly Operation[] = [
  ...features.flatMap(({ id, routes }) => routes.filter((route) => route.identify === undefined).map((route) => toOperation(id, route))),
  {
    feature: 'gateway',
    name: 'POST /v1/chat/completions',
    summary: 'Call a model, and any other path of a provider',
    scopes: ['completions.write'],
    organisationKey: false,
    writes: true,
    callers: ['key'],
  },
]

const letters = { owner: 'O', 'organisation-admin': 'A', admin: 'a', manager: 'g', member: 'm' } as const

const mark = (letter: string, access: Access) => (access === true ? letter : access === false ? '-' : '?')

type Person = (typeof roles)[number]

/** The credentials of people, in the order of the columns. */
const ways: readonly ((role: Person, operation: Operation) => Access)[] = [
  (role, operation) => operation.callers.includes('key') && accessOf('user key', role, operation),
  (role, operation) => operation.callers.includes('key') && accessOf('token', role, operation),
  (role, operation) => operation.callers.includes('session') && accessOfSession(role, operation),
]

/** One line an operation: the allowed callers, by letters, and the settings that decide where there is a question mark. */
function matrixLine(operation: Operation): string {
  const { name, scopes, callers } = operation
  const people = ways.map((access) => roles.map((role) => mark(letters[role], access(role, operation))).join(''))
  const services = (['admin key', 'workspace key'] as const)
    .map((caller) => (callers.includes('key') && accessOfService(caller, operation) ? '+' : '-'))
    .join('')
  const deciding = roles.flatMap((role) => {
    const names = new Set(ways.flatMap((access) => settingsOf(access(role, operation))))
    return names.size === 0 ? [] : [`${letters[role]}:${[...names].join('|')}`]
  })
  return [name.padEnd(64), services, ...people, scopes.length === 0 ? 'none' : [...scopes].join('|'), ...deciding].join(' ')
}

const settingsOf = (access: Access): readonly string[] => (typeof access === 'boolean' ? [] : access)

/** The operations for a person of unknown identity: by a password, a link, a passkey or an identity provider they identify themselves. */
const openOperations = features
  .flatMap(({ routes }) => routes.filter((route) => route.identify !== undefined))
  .map((route) => `${route.method} ${documentedPath(route)}`)

/** The matrix that is reviewed: `test/golden/permissions.txt`. */
export const matrixParts = (): Readonly<Record<string, string>> => ({
  matrix: ['```text', ...operations.map(matrixLine), '```'].join('\n'),
  open: ['```text', ...openOperations, '```'].join('\n'),
})

const words = (access: Access): string =>
  access === true ? 'yes' : access === false ? '–' : access.map((name) => `\`${name}\``).join(' or ')

function guideRow(operation: Operation): string {
  const { name, summary, scopes, callers } = operation
  const byKey = callers.includes('key')
  const [owner, organisationAdmin, admin, manager, member] = roles.map((role) => words(byKey && accessOf('user key', role, operation)))
  const token = byKey && accessOf('token', 'owner', operation) === true ? 'yes' : '–'
  const scope = scopes.map((one) => `\`${one}\``).join(' or ')
  const services = (['admin key', 'workspace key'] as const).map((caller) => words(byKey && accessOfService(caller, operation)))
  const people = [owner, organisationAdmin, admin, manager, member].map(String)
  return row([`${summary}<br>\`${name}\``, scope, ...services, ...people, token, sessionWords(operation)])
}

/** The signed-in people who may: the roles that always may, and those for which a setting decides. */
function sessionWords(operation: Operation): string {
  if (!operation.callers.includes('session')) return '–'
  const granted = roles.filter((role) => accessOfSession(role, operation) === true)
  if (granted.length === roles.length) return 'all'
  const asked = roles.flatMap((role) => {
    const access = accessOfSession(role, operation)
    return typeof access === 'boolean' ? [] : [`${titles[role]}: ${words(access)}`]
  })
  return [...granted.map((role) => titles[role]), ...asked].join(', ') || '–'
}

const titles = {
  owner: 'owner',
  'organisation-admin': 'organisation admin',
  admin: 'workspace admin',
  manager: 'manager',
  member: 'member',
} as const

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

const guideHead = 'Operation,Scope,Admin key,Workspace key,Owner,Organisation admin,Workspace admin,Manager,Member,Token,Signed in'.split(
  ',',
)

function permissionsTable(): string {
  const titled = [...new Set(operations.map(({ feature }) => feature))].map((feature) => {
    const rows = operations.filter((operation) => operation.feature === feature).map(guideRow)
    return [`### ${feature}`, '', row(guideHead), row(guideHead.map(() => '---')), ...rows].join('\n')
  })
  return titled.join('\n\n')
}

function settingsTable(): string {
  const rows = Object.entries(accessSettings).map(([name, { category, otherwise, description, ...others }]) =>
    row([`\`${name}\``, `\`${category}\``, otherwise ? 'on' : 'off', 'since' in others ? others.since : '', description]),
  )
  const head = ['Setting', 'Category of the override', 'Unless set', 'From release', 'What it does']
  return [row(head), row(head.map(() => '---')), ...rows].join('\n')
}

function keySettingsTable(): string {
  const described = (fields: Readonly<Record<string, z.ZodType>>, category: string) =>
    Object.entries(fields).map(([name, schema]) => row([`\`${name}\``, category, schema.meta()?.description ?? '']))
  const head = ['Setting', 'Category of the override', 'What it does']
  const rows = [...described(userKeyFields, `\`${userKeyCategory}\``), ...described(enforcedMetadataFields, 'none')]
  return [row(head), row(head.map(() => '---')), ...rows].join('\n')
}

/** The generated parts of `docs/reference/permissions.md`. */
export const permissionsParts = (): Readonly<Record<string, string>> => ({
  settings: settingsTable(),
  'key-settings': keySettingsTable(),
  operations: permissionsTable(),
})
