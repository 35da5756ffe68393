import { hash, randomBytes } from 'node:crypto'
import type { ProviderScope } from '../callers/key.ts'

/** An id is a front that no provider's ids have, a mark of the tenant, and a random part that cannot be guessed. */
const markLength = 12
const randomLength = 24
const fronts = { file: 'file-gw', batch: 'batch_gw' } as const
export type OwnKind = keyof typeof fronts

const form = (kind: OwnKind): RegExp => new RegExp(`^${fronts[kind]}[0-9a-f]{${markLength + randomLength}}$`)
const forms: Readonly<Record<OwnKind, RegExp>> = { file: form('file'), batch: form('batch') }

/** Returns a new id of something that the workspace, or the organisation of an admin key, stores here. */
export const newOwnId = (kind: OwnKind, scope: ProviderScope): string =>
  fronts[kind] + markOf(scope) + randomBytes(randomLength / 2).toString('hex')

/** Returns true for an id that Gatehouse gave; any other is a provider's. */
export const isOwnId = (kind: OwnKind, id: unknown): boolean => typeof id === 'string' && forms[kind].test(id)

/** Returns true if an id that Gatehouse gave names this tenant: the store is not asked for those of others. */
export const isOfTenant = (kind: OwnKind, id: string, scope: ProviderScope): boolean => id.startsWith(fronts[kind] + markOf(scope))

const markOf = ({ organisationId, workspaceId }: ProviderScope): string =>
  hash('sha256', `${organisationId}/${workspaceId ?? ''}`, 'hex').slice(0, markLength)
