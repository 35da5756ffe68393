import type { Behaviour } from '../../support/emulator/behaviour.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import type { Lines } from '../talk.ts'

/** A client's way to a provider. */
export interface TaskAddress {
  /** The begin of the paths of its API, without a version. */
  readonly origin: string
  readonly key: string
  /** The model, behind the provider that serves it: `@slug/model`. */
  readonly model: string
  /** Fields of the provider's own; absent: none. */
  readonly options?: Readonly<Record<string, unknown>>
}

/** A fact that a provider must have got: a value of its request, wherever that stands. */
export type Fact = string | number | RegExp

export interface TaskCase {
  /** Asks by the official client. Returns the client's result, a fact to a line. */
  ask(address: TaskAddress): Promise<Lines>
  readonly heard: readonly Fact[]
  readonly said: Lines
}

/** An operation of a client's format. */
export interface TaskClient {
  readonly title: string
  /** The path by which a refusal names it. Null: there is none. */
  readonly refusedAs: string | null
  readonly cases: Readonly<Record<string, TaskCase>>
}

/** A format of a provider, and the row of the catalogue that stands for it. */
export interface TaskProvider {
  readonly title: string
  readonly row: string
  readonly fields?: Readonly<Record<string, string>>
  readonly credential?: { readonly key: string | null; readonly fields: Readonly<Record<string, string>> }
  /** The part of the path that a custom host has in it. */
  readonly base: string
  readonly model: string
  /** The format by which the operation is translated, as `formatOf` names it. Null: requests of its own clients go on as they are. */
  readonly format: string | null
  /** The clients that are served so; absent: all. */
  readonly clients?: readonly string[]
  readonly options?: Readonly<Record<string, unknown>>
  /** False: Gatehouse answers itself. */
  readonly asked?: false
  /** An error in its form. */
  error(message: string, status: number): object
}

/** Where a translation does more than to carry. */
export interface TaskDeparture {
  readonly note: string
  readonly providers: readonly string[]
  readonly clients?: readonly string[]
  /** Absent: all. */
  readonly cases?: readonly string[]
  /** Lines that the client reads in another way; null: not at all. */
  readonly said?: readonly (readonly [from: RegExp, to: string | null])[]
  /** The facts of the case that the provider does not get. */
  readonly unheard?: readonly Fact[]
  /** The fields that the log names as left out. */
  readonly dropped?: readonly string[]
  /** The message of the 400. */
  readonly refused?: RegExp
  /** True if the provider itself refuses it. */
  readonly byProvider?: true
}

/** Operations that ask for the same work, and all providers that do it. */
export interface Area {
  readonly title: string
  /** The tasks of the operations, as the catalogue names them. */
  readonly tasks: readonly string[]
  readonly clients: Readonly<Record<string, TaskClient>>
  readonly providers: Readonly<Record<string, TaskProvider>>
  readonly departures: readonly TaskDeparture[]
  /** Answers as strictly as the providers do. */
  serve(received: Received): Behaviour
  /** A row that does no such work. Null: all do it, or are passed on to. */
  readonly unable: string | null
}

export interface TaskCell {
  readonly client: string
  readonly provider: string
  readonly name: string
}

/** Returns the departures of a cell, in their order. */
export const departuresAt = ({ departures }: Area, { client, provider, name }: TaskCell): readonly TaskDeparture[] =>
  departures.filter(
    (one) =>
      one.providers.includes(provider) && (one.clients?.includes(client) ?? true) && (one.cases?.includes(name) ?? name !== 'errors'),
  )

/** Returns true if an area translates the operation of a client for a provider, or passes it on. */
export const isServed = ({ providers }: Area, client: string, provider: string): boolean =>
  providers[provider]?.clients?.includes(client) ?? true

/** The names of the cases of a client at a provider: its own, and that of a provider which fails. */
export const casesOf = ({ cases }: TaskClient, provider?: TaskProvider): readonly string[] =>
  provider?.asked === false ? Object.keys(cases) : [...Object.keys(cases), 'errors']

const aws = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }

/** Rows of clouds, with the fields that each needs beside a key. */
export const clouds = {
  bedrock: { row: 'bedrock', credential: { key: null, fields: aws }, error: (message: string) => ({ message }) },
  vertex: {
    row: 'vertex-ai',
    fields: { vertex_project_id: 'project', vertex_region: 'us-east5' },
    error: (message: string, status: number) => ({ error: { code: status, message, status: 'SOME' } }),
  },
  google: {
    row: 'google',
    error: (message: string, status: number) => ({ error: { code: status, message, status: 'SOME' } }),
  },
  workers: {
    row: 'workers-ai',
    fields: { workers_ai_account_id: 'account' },
    base: '',
    error: (message: string) => ({ success: false, errors: [{ code: 1, message }], messages: [], result: null }),
  },
} as const

/** Errors in the form of OpenAI, and most others. */
export const plainError = (message: string): object => ({ error: { message, type: 'some', param: null, code: null } })

/** Errors of one field. */
export const errorIn =
  (field: string) =>
  (message: string): object => ({ [field]: message })
