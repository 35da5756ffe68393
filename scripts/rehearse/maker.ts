import type { Caller, Client } from './client.ts'

/** The tools of a maker. All names hold the client's token, so that the same requests can be made again under other names. */
export interface Making {
  readonly client: Client
  /** The control plane as the organisation's admin, and as the first workspace. */
  readonly admin: Caller
  readonly workspace: Caller
  readonly adminKey: string
  readonly workspaceKey: string
  /** The scripted provider, to be given as a custom host. */
  readonly providerUrl: string
  /** Whether the level that runs has the additions of a release: fields of later ones are refused. */
  readonly has: (release: string) => boolean
  /** A name that no other client uses. */
  readonly name: (noun: string) => string
}

/**
 * What clients of one feature do with it: makes data that stays, reads it, changes it and removes some, through every route of the
 * feature that is on. It asks as a client of the level that runs, and the same requests must serve at every later level, so:
 *
 * - every name and slug comes from `name('…')`, and every id from an answer: the same requests are sent again under other names;
 * - every GET is read again after the upgrade, and must say the same: `list(path, n)` waits until so many are listed;
 * - what is used by requests (a provider, a guardrail) is used by `client.through(…).get('/echo/…')`, whose answer tells what arrived;
 * - what must be denied is asked with `refused(status, …)`.
 *
 * A feature whose effect shows in the data of others, and which has no route, has `withoutData` in makers.ts.
 */
export type Maker = (making: Making) => Promise<void>
