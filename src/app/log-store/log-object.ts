import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { LogStoreError } from './log-store.ts'
import type { StoredLog } from './object-key.ts'

/** The columns of `log_bodies` that an object holds. */
export interface LogBodies {
  readonly request_headers: Readonly<Record<string, string>>
  readonly response_headers: Readonly<Record<string, string>>
  readonly request_body: Buffer | null
  readonly response_body: Buffer | null
  readonly hook_results: StoredHooks | null
  readonly sealed: Buffer | null
}

/** The results of guardrails, before and after the request. */
export interface StoredHooks {
  readonly before_request_hooks: Record<string, unknown>[]
  readonly after_request_hooks: Record<string, unknown>[]
}

/** Returns the object of a log: JSON that other tools can read. A body that is no UTF-8 is in base64. */
export function encodeLogObject(log: StoredLog, bodies: LogBodies): Uint8Array {
  const { id, organisationId, workspaceId, createdAt } = log
  const about = { id, organisation_id: organisationId, workspace_id: workspaceId, created_at: new Date(createdAt).toISOString() }
  const content =
    bodies.sealed === null
      ? {
          request: { headers: bodies.request_headers, ...encodeBody(bodies.request_body) },
          response: { headers: bodies.response_headers, ...encodeBody(bodies.response_body) },
          hook_results: bodies.hook_results,
        }
      : { sealed: bodies.sealed.toString('base64') }
  return Buffer.from(JSON.stringify({ object: 'log', version: 1, ...about, ...content }))
}

/** Returns the bodies in an object. Throws LogStoreError when it is the object of another log, or none of a log. */
export function decodeLogObject(log: Pick<StoredLog, 'id' | 'organisationId'>, bytes: Uint8Array): LogBodies {
  const { success, data } = logObject.safeParse(jsonIn(bytes))
  if (!success || data.id !== log.id || data.organisation_id !== log.organisationId)
    throw new LogStoreError('the object of this log holds something else')
  const { request, response, hook_results: found, sealed } = data
  return {
    request_headers: request?.headers ?? {},
    response_headers: response?.headers ?? {},
    request_body: decodeBody(request),
    response_body: decodeBody(response),
    hook_results: found ?? null,
    sealed: sealed === undefined ? null : Buffer.from(sealed, 'base64'),
  }
}

const message = z.object({
  headers: z.record(z.string(), z.string()),
  body: z.string().nullable(),
  body_encoding: z.enum(['utf8', 'base64']).nullable(),
})

const results = z.array(z.record(z.string(), z.unknown()))
const hooks = z.object({ before_request_hooks: results, after_request_hooks: results })

const logObject = z.object({
  id: z.string(),
  organisation_id: z.string(),
  request: message.optional(),
  response: message.optional(),
  hook_results: hooks.nullish(),
  sealed: z.string().optional(),
})

type Message = z.infer<typeof message>

function encodeBody(bytes: Buffer | null): Pick<Message, 'body' | 'body_encoding'> {
  if (bytes === null) return { body: null, body_encoding: null }
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64'
  return { body: bytes.toString(encoding), body_encoding: encoding }
}

const decodeBody = (held: Message | undefined): Buffer | null =>
  held === undefined || held.body === null ? null : Buffer.from(held.body, held.body_encoding ?? 'utf8')

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return null
  }
}
