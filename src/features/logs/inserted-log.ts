import type { Actor } from '../../app/route.ts'
import type { ExchangeBodies, ExchangeRecord } from '../../gateway/ports.ts'
import { withoutKeys, withoutUser, redactionOfHeaders } from '../../gateway/ports/records.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { InsertedLog } from './insert.schema.ts'

/** Marks a log as written by a client: the gateway has no operation of this name. */
export const insertedOperation = 'inserted'

export interface Insertion {
  readonly actor: Actor
  readonly workspaceId: string
  readonly clientAddress: string
  /** Epoch milliseconds. */
  readonly now: number
  /** The most bytes of one body that are kept. */
  readonly maxBodyBytes: number
}

/** A log from a client, as the journal takes it. It has no usage of ours, so that it is never priced. */
export function toExchange(log: InsertedLog, insertion: Insertion): { readonly record: ExchangeRecord; readonly bodies: ExchangeBodies } {
  const { request, response } = log
  const id = uuidv7(insertion.now)
  const redaction = redactionOfHeaders([...flat(request.headers), ...flat(response.headers)])
  const bytes = (body: unknown) => Buffer.from(redaction.text(typeof body === 'string' ? body : JSON.stringify(body)))
  const [requestBody, responseBody] = [bytes(request.body), bytes(response.body)]
  const url = redaction.text(withoutUser(withoutKeys(request.url)))
  return {
    record: {
      ...ownerOf(insertion),
      id,
      ...placeOf(log.metadata, id),
      ...whatWasCalled(request),
      path: url,
      upstreamUrl: url,
      status: response.status,
      durationMs: response.response_time,
      requestBytes: requestBody.length,
      responseBytes: responseBody.length,
      requestHeaders: redaction.headers(flat(request.headers)),
      responseHeaders: redaction.headers(flat(response.headers)),
    },
    bodies: {
      request: requestBody.subarray(0, insertion.maxBodyBytes),
      response: responseBody.subarray(0, insertion.maxBodyBytes),
      requestTruncated: requestBody.length > insertion.maxBodyBytes,
      responseTruncated: responseBody.length > insertion.maxBodyBytes,
    },
  }
}

const flat = (headers: Readonly<Record<string, string>>): string[] => Object.entries(headers).flat()

/** Returns the owner of the log, and the fields that only the gateway sets. */
const ownerOf = ({ actor, workspaceId, clientAddress, now }: Insertion) => ({
  organisationId: actor.organisationId,
  workspaceId,
  createdAt: now,
  apiKeyId: actor.id,
  userId: actor.userId,
  clientAddress,
  operation: insertedOperation,
  providerSlug: null,
  outcome: 'complete' as const,
  errorCode: null,
  upstreamMs: null,
  firstByteMs: null,
  usage: null,
  usageSource: 'none' as const,
  cost: null,
  retryCount: 0,
  cacheStatus: 'DISABLED',
  lastUsedOption: null,
  cachedLogId: null,
  mirrorOf: null,
  billed: true,
  config: null,
  prompt: null,
  hooks: null,
  attempts: null,
  translation: null,
  spent: null,
  jobs: null,
})

function placeOf({ trace_id, span_id, parent_span_id, span_name, ...metadata }: InsertedLog['metadata'], id: string) {
  return {
    traceId: trace_id ?? id,
    spanId: span_id ?? null,
    parentSpanId: parent_span_id ?? null,
    spanName: span_name ?? null,
    metadata,
  }
}

/** The model of a request of the usual shape. */
function whatWasCalled({ method, provider, body }: InsertedLog['request']) {
  const { model, stream }: Readonly<Record<string, unknown>> = typeof body === 'string' || Array.isArray(body) ? {} : body
  return {
    method: method.toUpperCase(),
    provider: provider ?? null,
    model: typeof model === 'string' ? model.slice(0, longestModel).toWellFormed().replaceAll('\0', '') : null,
    stream: stream === true,
  }
}

const longestModel = 255
