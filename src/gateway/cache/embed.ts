import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { CallHead } from '../call.ts'
import type { EmbeddingOutcome } from '../ending/metrics.ts'
import type { InnerAnswer, InnerRequest } from '../exchange/inner-exchange.ts'
import type { SemanticSettings } from '../settings.ts'

/** Turns a text into a vector of the length 1, at the expense of the caller. Resolves with null when that fails or takes too long. */
export type Embedder = (asker: CallHead, text: string) => Promise<Float32Array | null>

export interface EmbedOptions {
  /** `Gateway.perform`. */
  readonly perform: (request: InnerRequest) => Promise<InnerAnswer>
  readonly settings: SemanticSettings
  readonly observe: (outcome: EmbeddingOutcome) => void
}

/** After a failure no embeddings are asked for so long, so that a provider that is down delays few requests. */
const restMs = 5000
/** The extra time in which the timeout of the call itself is reported. */
const graceMs = 50
const mostBytes = 1024 * 1024
/** More are in no model, and would not fit a page of PostgreSQL. */
const mostDimensions = 4000

const embedding = z.object({ data: z.tuple([z.object({ embedding: z.array(z.number()).min(1).max(mostDimensions) })]) })

/** Lets the data plane itself ask the stored provider that the settings name. */
export function createEmbed({ perform, settings, observe }: EmbedOptions): Embedder {
  const resting = new Map<string, number>()
  return async (asker, text) => {
    const { organisationId, workspaceId } = asker.caller.key
    const owner = `${organisationId} ${workspaceId}`
    if ((resting.get(owner) ?? 0) > performance.now()) {
      observe('resting')
      return null
    }
    const signal = AbortSignal.timeout(settings.timeoutMs + graceMs)
    const began = performance.now()
    const vector = await ask({ perform, request: requestFor(settings, asker, text), signal }).catch(() => null)
    const late = performance.now() - began >= settings.timeoutMs
    if (vector === null) resting.set(owner, performance.now() + restMs)
    else resting.delete(owner)
    observe(vector !== null ? 'ok' : late ? 'slow' : 'failed')
    return vector
  }
}

/** Its log stands in the trace of the request, and keeps no more of it than the log of that request may. */
function requestFor({ provider, model, dimensions, timeoutMs }: SemanticSettings, asker: CallHead, text: string): InnerRequest {
  const { caller, trace, headers, exchange } = asker
  const debug = headers.service.get('debug')
  return {
    method: 'POST',
    url: '/v1/embeddings',
    headers: Object.entries({
      'content-type': 'application/json',
      'x-service-provider': provider,
      'x-service-request-timeout': String(timeoutMs),
      'x-service-trace-id': ascii(trace.traceId),
      'x-service-span-name': 'semantic-cache',
      'x-service-metadata': ascii(JSON.stringify(ownMetadata(asker))),
      ...(trace.spanId !== null && { 'x-service-parent-span-id': ascii(trace.spanId) }),
      ...(debug !== undefined && { 'x-service-debug': debug }),
    }).flat(),
    body: Buffer.from(JSON.stringify({ model, input: text, ...(dimensions !== null && { dimensions }) })),
    clientAddress: exchange.clientAddress,
    caller,
  }
}

/** Returns the metadata of the request itself: the key's own metadata are added again. */
const ownMetadata = ({ metadata, caller: { key } }: CallHead) =>
  Object.fromEntries(Object.entries(metadata).filter(([name, value]) => key.metadata[name] !== value))

/** Returns a text as a header may hold it; as JSON it is the same value. */
const ascii = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

interface EmbedCall {
  readonly perform: EmbedOptions['perform']
  readonly request: InnerRequest
  readonly signal: AbortSignal
}

async function ask({ perform, request, signal }: EmbedCall): Promise<Float32Array | null> {
  const { status, body } = await perform({ ...request, signal })
  const text = await read(body)
  if (status !== 200) return null
  const [{ embedding: numbers }] = embedding.parse(JSON.parse(text)).data
  const length = Math.hypot(...numbers)
  return length > 0 ? Float32Array.from(numbers, (number) => number / length) : null
}

async function read(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk) || (size += chunk.length) > mostBytes) throw new Error('an embedding is not so long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
