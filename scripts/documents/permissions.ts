// What the guide to permissions and the reviewed matrix under `test/` say, from the routes and the rules themselves.
import type { z } from 'zod'
import { changesThings } from '../../src/app/route.ts'
import { features } from '../../src/features/index.ts'
import { accessSettings } from '../../src/lib/access/access-settings.ts'
import { enforcedMetadataFields } from '../../src/lib/access/enforced-metadata.ts'
import { userKeyCategory, userKeyFields } from '../../src/lib/access/user-key-settings.ts'
import { accessOf, accessOfService, roles, type Access, type Asked } from '../../src/lib/access/permission-matrix.ts'

interface Operation extends Asked {
  readonly feature: string
  /** `GET /v1/prompts` */
  readonly name: string
  readonly summary: string
}

/** Everything that asks for a scope: the routes of the control plane, and calling models. */
const operations: readonly Operation[] = [
  ...features.flatMap(({ id, routes }) =>
    routes
      .filter((route) => route.identify === undefined)
      .map(({ method, path, summary, permission, organisationKey = false, reads }) => ({
        feature: id,
        name: `${method} /v1${path.replaceAll(/:(\w+)/g, '{$1}')}`,
        summary,
        scopes: [permission].flat(),
        organisationKey,
        writes: changesThings({ method, reads }),
      })),
  ),
  {
    feature: 'gateway',
    name: 'POST /v1/chat/completions',
    summary: 'Call a model, and any other path of a provider',
    scopes: ['completions.write'],
    organisationKey: false,
    writes: true,
  },
]

const letters = { owner: 'O', 'organisation-admin': 'A', admin: 'a', manager: 'g', member: 'm' } as const

const mark = (letter: string, access: Access) => (access === true ? letter : access === false ? '-' : '?')

/** One line an operation: who may, by letters, and which settings decide where there is a question mark. */
function matrixLine(operation: Operation): string {
  const { name, scopes } = operation
  const people = (caller: 'user key' | 'token') => roles.map((role) => mark(letters[role], accessOf(caller, role, operation))).join('')
  const services = (['admin key', 'workspace key'] as const).map((caller) => (accessOfService(caller, operation) ? '+' : '-')).join('')
  const deciding = roles.flatMap((role) => {
    const names = new Set((['user key', 'token'] as const).flatMap((caller) => settingsOf(accessOf(caller, role, operation))))
    return names.size === 0 ? [] : [`${letters[role]}:${[...names].join('|')}`]
  })
  return [name.padEnd(64), services, people('user key'), people('token'), [...scopes].join('|'), ...deciding].join(' ')
}

const settingsOf = (access: Access): readonly string[] => (typeof access === 'boolean' ? [] : access)

/** The matrix that is reviewed: `test/golden/permissions.txt`. */
export const matrixParts = (): Readonly<Record<string, string>> => ({
  matrix: ['```text', ...operations.map(matrixLine), '```'].join('\n'),
})

const words = (access: Access): string =>
  access === true ? 'yes' : access === false ? '–' : access.map((name) => `\`${name}\``).join(' or ')

function guideRow(operation: Operation): string {
  const { name, summary, scopes } = operation
  const [owner, organisationAdmin, admin, manager, member] = roles.map((role) => words(accessOf('user key', role, operation)))
  const token = accessOf('token', 'owner', operation) === true ? 'yes' : '–'
  const services = (['admin key', 'workspace key'] as const).map((caller) => words(accessOfService(caller, operation)))
  const scope = scopes.map((one) => `\`${one}\``).join(' or ')
  return row([`${summary}<br>\`${name}\``, scope, ...services, owner, organisationAdmin, admin, manager, member, token].map(String))
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

const guideHead = 'Operation,Scope,Admin key,Workspace key,Owner,Organisation admin,Workspace admin,Manager,Member,Token'.split(',')

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

/** What is generated of `docs/guide/permissions.md`. */
export const permissionsParts = (): Readonly<Record<string, string>> => ({
  settings: settingsTable(),
  'key-settings': keySettingsTable(),
  operations: permissionsTable(),
})
