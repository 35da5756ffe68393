import type { EntityManager } from '@mikro-orm/postgresql'
import { notFound } from '../../app/database/find.ts'
import type { Actor, DataPlaneCall } from '../../app/route.ts'
import type { Deps } from '../../app/deps.ts'
import { inlineConfig } from '../../gateway/ports/records.ts'
import { isGooglePath } from '../../gateway/ports/operations.ts'
import { ApiError } from '../../lib/errors.ts'
import { findLog, insertedOperation, logScopeOf, openLog, presentLogDetail } from '../logs/index.ts'

type Headers = Readonly<Record<string, string>>
type Log = NonNullable<Awaited<ReturnType<typeof findLog>>>

export interface LogLookup {
  readonly em: EntityManager
  readonly actor: Actor
  readonly deps: Deps
  readonly use: LogUse
}

/** The use that a logged request is wanted for, in words. */
export interface LogUse {
  /** `explained`. */
  readonly participle: string
  /** The field that names the log. */
  readonly param: string
  /** A sentence with the remedy where a log does not hold its request. */
  readonly advice: string
}

/** A request as a log has it, and the log itself. */
export interface LoggedRequest {
  readonly call: DataPlaneCall
  readonly log: Log
}

const configHeader = 'x-service-config'

/**
 * Returns the request of a log, as it was sent on, so that it can be sent again. `given`: headers that go before those of the log.
 * Throws `AB03` without the right to read logs, `AB08` for a log that is not there, `AB01` for one that does not hold its request.
 */
export async function readLoggedRequest(logId: string, given: Headers, { em, actor, deps, use }: LogLookup): Promise<LoggedRequest> {
  const { param, participle, advice } = use
  const noRequest = (why: string): ApiError =>
    new ApiError('AB01', `${why}, so that the request of this log cannot be ${participle}. ${advice}`, { param })
  if (!actor.permissions.has('logs.view'))
    throw new ApiError('AB03', `The request of a log is ${participle} for keys that may read it: the key needs the scope logs.view.`, {
      param,
    })
  const row = await findLog(em, logScopeOf(actor), logId)
  if (row === null) throw notFound('log', logId, param)
  const log = await openLog(row, deps)
  const fault = originFault(log, actor)
  if (fault !== null) throw noRequest(fault)
  const { request } = await presentLogDetail(log)
  const { body, body_encoding: encoding, body_truncated: cut } = request
  if (cut) throw noRequest('Its body was longer than logs keep')
  if (body === null && log.request_bytes > 0) throw noRequest('Its body was not kept')
  if (encoding !== null && encoding !== 'json') throw noRequest('Its body is not JSON')
  const headers = headersOf({ ...request.headers, ...request.serviceHeaders }, { log, actor, given })
  const call = { method: log.method, path: pathOf(log), headers: Object.entries(headers).flat() }
  return { log, call: body === null ? call : { ...call, body: Buffer.from(JSON.stringify(body)) } }
}

/** Returns why a log is not of a request that can come again; null: it is. */
function originFault(row: Log, actor: Actor): string | null {
  if (row.operation === insertedOperation) return 'A client reported it: the gateway did not send it'
  if (isGooglePath(row.path)) return 'It came by a path of Google’s clients'
  return actor.workspaceId !== null && actor.workspaceId !== row.workspace_id ? 'It belongs to another workspace' : null
}

/** A request for a prompt was logged as the chat completion that the prompt made. */
const pathOf = ({ path, prompt_id: prompt }: Log): string => (prompt === null ? path : '/chat/completions')

interface HeaderContext {
  readonly log: Log
  readonly actor: Actor
  readonly given: Headers
}

function headersOf(logged: Headers, { log, actor, given }: HeaderContext): Headers {
  const kept = Object.entries(logged).filter(([name, value]) => !isFraming(name) && !value.includes('[removed]'))
  const headers = { ...Object.fromEntries(kept), ...lowerCased(given) }
  if (headers[configHeader] === inlineConfig)
    throw new ApiError('AB01', `The request brought its own config, which no log keeps. Give it here as the header ${configHeader}.`, {
      param: `headers.${configHeader}`,
    })
  return { ...providerOf(log), ...defaultConfig(log, actor), ...headers }
}

/** The body stands here as plain JSON. */
const isFraming = (name: string): boolean => name === 'content-encoding' || name === 'content-length' || name === 'content-type'

const lowerCased = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The chat completion does not name the provider of a prompt. */
const providerOf = ({ prompt_id: prompt, provider_slug: slug }: Log): Headers =>
  prompt === null || slug === null ? {} : { 'x-service-provider': `@${slug}` }

/** The config that the key of the request started from, which another key does not. */
const defaultConfig = ({ config_slug: slug, api_key_id: key }: Log, actor: Actor): Headers =>
  slug === null || key === actor.id ? {} : { [configHeader]: slug }

/** Returns the outcome of a logged request. */
export const presentPast = (log: Log) => ({
  id: log.id,
  created_at: new Date(log.created_at).toISOString(),
  status: log.status,
  outcome: log.outcome,
  error_code: log.error_code,
  config: log.config_slug === null || log.config_version === null ? null : { slug: log.config_slug, version: log.config_version },
  provider_slug: log.provider_slug,
  model: log.model,
  option: log.last_used_option,
  cache_status: log.cache_status,
  attempts: log.attempts,
  hook_results: log.hook_results,
})
