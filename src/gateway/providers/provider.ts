import type { DialectId } from '../dialects/dialect.ts'
import type { Traits } from '../dialects/traits.ts'
import type { Operation, Task } from '../operations/operations.ts'

/** The API of a provider's own paths. */
export type ProviderApi = 'openai' | 'anthropic' | 'google' | 'vertex' | 'bedrock' | 'cohere' | 'oracle' | 'other'

/** A provider's credential in the clear: its key, and named fields such as `aws_region` or `azure_resource_name`. */
export interface Credential {
  readonly key: string | null
  readonly fields: Readonly<Record<string, string>>
}

/**
 * How a provider wants to be convinced. A value: `gateway/credentials` carries it out. No kind puts a key into the URL, where servers and proxies
 * log it.
 */
export type Auth =
  /** Needs no credential; a key that is given all the same goes as a bearer token. */
  | { readonly kind: 'none' }
  /** `authorization: <scheme> KEY` */
  | { readonly kind: 'bearer'; readonly scheme: string }
  | { readonly kind: 'header'; readonly name: string; readonly prefix: string }
  | { readonly kind: 'sigv4'; readonly service: string }
  /** OAuth 2 JWT grant from a service account, or a given access token. */
  | { readonly kind: 'google' }
  /** A key in the named headers (default `api-key`), Entra client credentials, or a given token, by `azure_auth_mode`. */
  | { readonly kind: 'azure'; readonly keyHeaders?: readonly ('api-key' | 'authorization')[] }
  /** HTTP Signatures of Oracle Cloud. */
  | { readonly kind: 'oracle' }

export const noAuth: Auth = { kind: 'none' }
export const bearer: Auth = { kind: 'bearer', scheme: 'Bearer' }
export const scheme = (name: string): Auth => ({ kind: 'bearer', scheme: name })
export const header = (name: string, prefix = ''): Auth => ({ kind: 'header', name, prefix })
export const sigv4 = (service: string): Auth => ({ kind: 'sigv4', service })

/**
 * How a provider differs from its dialect. It acts on bodies that Gatehouse makes: of prompts, and of translations. In a caller's own chat for a
 * provider of chats, the names alone are changed.
 */
export interface Quirks {
  /** The dialect's name of a parameter, and the provider's. */
  readonly rename?: Readonly<Record<string, string>>
  /** Parameters that the provider refuses. */
  readonly drop?: readonly string[]
  /** Parameters that some of its models refuse. */
  readonly dropOf?: readonly [models: RegExp, names: readonly string[]]
  /** Bounds outside of which the provider refuses a number. */
  readonly clamp?: Readonly<Record<string, readonly [min: number, max: number]>>
}

/** An operation that a provider serves without translation. */
export interface NativeOperation {
  readonly operation: Operation
  /** The models that it does not serve by this operation; absent: none. */
  readonly except?: RegExp
  readonly dialect: DialectId
  /** Relative to the base URL; a path that starts with `^` or `~` leaves out some or all of that (see `joinPath`). */
  readonly path: string
}

/** A task that a provider does in a format of its own: requests of callers in another one are translated. */
export interface Offer {
  readonly task: Task
  readonly dialect: DialectId
  /** As in `Spoken`. */
  readonly path: string
  /** The path of streams, when that is another one. */
  readonly streamPath?: string
  /** The host of the provider's that does it, when that is another one: a template, as `baseUrl` of a row. A custom host stands for all. */
  readonly baseUrl?: string
  /** The models for which it stands; the first group is the model as the path wants it. Absent: all. */
  readonly models?: RegExp
  readonly traits?: Partial<Traits>
  /** True if it is better than the provider's own dialect, for callers of another dialect. */
  readonly first?: true
}

/** The cheapest request that only a valid credential gets through, for tests of a provider. A template, as in `Spoken`. */
export interface CheckCall {
  readonly path: string
  /** Sent by POST when there is one: a body that is refused as incomplete, once the credential is accepted, is free. */
  readonly body?: string
  /** The statuses beside 2xx that only an accepted credential gets. */
  readonly accepted?: readonly number[]
}

/** The request for the list of models. */
export interface ListCall {
  /** A template, as in `Spoken`. */
  readonly path: string
  /** As in `Offer`. */
  readonly baseUrl?: string
}

/** Another address of a provider, taken when a credential field is given (or has the given value). It replaces `baseUrl`, `speaks` and, where it has its own, `offers`. */
export interface Variant {
  readonly field: string
  readonly value?: string
  /** As in `Provider`. */
  readonly baseUrl: string | null
  readonly speaks: readonly NativeOperation[]
  readonly offers?: readonly Offer[]
}

/** One provider: only how it differs. `{field}` in `baseUrl` and in paths is filled from the credential's fields, `{model}` from the body. */
export interface Provider {
  /** The release that brought it; absent: every release has it. */
  readonly since?: string
  /** The provider that its vendor has in its place, where its API has ended; absent: it is alive. */
  readonly retired?: string
  readonly api: ProviderApi
  /** Null: the provider has no host of its own, a custom host is needed. */
  readonly baseUrl: string | null
  readonly auth: Auth
  /** The paths, with their queries, that want another way than `auth`. */
  readonly authAt?: readonly [paths: RegExp, auth: Auth]
  readonly speaks: readonly NativeOperation[]
  /**
   * Its offers in formats of its own, at every address that has no offers itself. `servingOf` takes the first that stands for a model, one in the
   * caller's dialect before all others.
   */
  readonly offers?: readonly Offer[]
  /** True if a custom host may have paths of OpenAI's, although the provider has formats of its own. */
  readonly openHosts?: true
  /** True if it reads the model from the query. */
  readonly readsQuery?: true
  /** How it differs from the dialect that it speaks, for requests that are translated. */
  readonly traits?: Partial<Traits>
  readonly variants?: readonly Variant[]
  /** True if its streams of chat have chunks that OpenAI's do not have. */
  readonly addsEvents?: true
  /** Sent unless the caller sends a header of that name. */
  readonly headers?: Readonly<Record<string, string>>
  /** Credential fields that go to the provider as headers: field -> header name. */
  readonly fieldHeaders?: Readonly<Record<string, string>>
  /** Credential fields with their defaults; null: required; empty: optional. */
  readonly fields?: Readonly<Record<string, string | null>>
  /** The fields that stand in the bodies of requests. */
  readonly bodyFields?: readonly string[]
  /** Fields that stand within another one, a JSON document, unless they are given themselves: field -> [document, member]. */
  readonly fieldsWithin?: Readonly<Record<string, readonly [document: string, member: string]>>
  /** Fields of its address that follow from the others. */
  readonly madeFields?: Readonly<Record<string, (fields: Readonly<Record<string, string>>) => string>>
  readonly quirks?: Quirks
  /** Absent: the list of models, where the provider has one beside its operations. */
  readonly check?: CheckCall
  /** The list of its models, if that is not where its API has it. */
  readonly lists?: ListCall
}
