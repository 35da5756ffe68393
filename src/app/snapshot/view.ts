import type { QueryConfig, QueryResultRow } from 'pg'
import type { ProviderScope, Snapshot, TokenSource } from '../../gateway/ports.ts'
import type { Vault } from '../secrets/vault.ts'
import type { ExistenceFilter } from './known.ts'
import type { LoadedView } from './view-cache.ts'

/** Asks the database with `$1`, `$2` …; the name is that of a prepared statement. */
export type Ask = <Row extends QueryResultRow>(query: QueryConfig<unknown[]>) => Promise<readonly Row[]>

/** The bounds of a view's cache. */
export interface ViewLimits {
  readonly maxViews: number
  /** The most that the views may weigh together; no bound when absent. */
  readonly maxWeight?: number
  /** The most that the views of one organisation may weigh together; no bound when absent. */
  readonly maxWeightOfOwner?: number
}

/** The limits of a view unless it has its own. */
export const usualLimits: ViewLimits = { maxViews: 100_000 }
const MiB = 1024 * 1024
/** Configs and guardrails are larger than keys, and their patterns larger still. */
export const documentLimits: ViewLimits = { maxViews: 20_000, maxWeight: 128 * MiB, maxWeightOfOwner: 32 * MiB }
/** Templates are as long as their authors make them. */
export const templateLimits: ViewLimits = { ...usualLimits, maxWeight: 64 * MiB }

/** The longest slug or id by which something is stored. */
export const longestSlug = 255

/** Services of the snapshot for a view that is not in memory. */
export interface ViewSource {
  readonly vault: Vault
  readonly known: ExistenceFilter
  /** Opens a sealed value. An error that is no ApiError becomes `credential_failed`, naming the reference. */
  readonly opened: <T>(reference: string, open: () => Promise<T>) => Promise<T>
}

/** How one view that is not in memory is read. */
export interface Lookup<Result> {
  /** False: the caller may have invented it. Then it is read on the connection for strangers, a few at a time. Absent: the caller was let in. */
  readonly isKnown?: () => boolean
  /** The client address of the request, if it has not been let in yet. */
  readonly address?: string | undefined
  read(ask: Ask): Promise<LoadedView<Result> | null>
}

/** A kind of view of the control plane that the snapshot keeps in memory. A feature exports it in `Feature.views`. */
export interface View<One, Other, Result> {
  readonly limits: ViewLimits
  /** Tables in which a change may end a miss, beside `organisations` and `workspaces`. */
  readonly tables: readonly string[]
  /** Tables of which every change matters to the views that depend on `anyOf(table)`. */
  readonly anyOf?: readonly string[]
  /** The key in the cache; null: there is no such thing. Called for every request. */
  key(one: One, other: Other): string | null
  /** Called when the view is not in memory. */
  find(one: One, other: Other, source: ViewSource): Lookup<Result>
}

/** The key of the row that a scope sees under a slug or id. */
export const byReference = ({ organisationId, workspaceId }: ProviderScope, reference: string): string | null =>
  reference.length > longestSlug ? null : `${workspaceId ?? organisationId}/${reference}`

/** A dependency of a view on every row of a table: a row that is made later may concern it. */
export const anyOf = (table: string): string => `any of ${table}`

type Port = Snapshot & TokenSource
type First<Method> = Method extends (one: infer One, other: never) => unknown ? One : never
type Second<Method> = Method extends (one: never, other: infer Other) => unknown ? Other : never
type FoundView<Method extends (one: never, other: never) => unknown> = NonNullable<Awaited<ReturnType<Method>>>

/** The views behind the gateway's ports, each by the name of the method that asks for it. */
export type Views = { readonly [Name in keyof Port]: View<First<Port[Name]>, Second<Port[Name]>, FoundView<Port[Name]>> }

/** The views of a build without a feature: all are empty. */
const nothing: View<unknown, unknown, never> = {
  limits: usualLimits,
  tables: [],
  key: () => null,
  find: () => ({ read: () => Promise.resolve(null) }),
}

/** The views that every build has. */
const needed = ['key', 'provider', 'providers', 'config', 'guardrail', 'pluginCredentials', 'prompt', 'tokenIssuer', 'tokenHolder'] as const

/** All views. Throws when no feature gives one of them. Policies come with a later release, and a process of tests may be without MCP and without batches. */
export function complete(views: Partial<Views>): Views {
  const all: Partial<Views> = { keyById: nothing, policies: nothing, mcpServer: nothing, mcpSignIn: nothing, mcpGrant: nothing, ...views }
  if (!isWhole(all)) throw new Error(`The features give only these views: ${Object.keys(views).join(', ')}.`)
  return all
}

const isWhole = (views: Partial<Views>): views is Views => needed.every((name) => views[name] !== undefined)
