import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { exactJson } from '../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { toApiError } from '../../lib/errors.ts'
import type { InnerAnswer, InnerRequest } from '../exchange/inner-exchange.ts'
import { headerValue } from '../wire/header-list.ts'
import type { ClaimedLine, LineResult, OpenBatch } from './batch-store.ts'
import { workTurn } from './work-turn.ts'

/** More of an answer is not kept. */
const longestAnswer = 16 * 1024 * 1024
/** So often a line is tried when its failures may pass. */
const mostTries = 5
/** Statuses of failures that may pass. */
const passing: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529])
const longestWaitMs = 10 * 60_000

/** How a request of a line ended. */
export type LineEnd =
  | { readonly kind: 'done'; readonly result: LineResult }
  /** It is to be made again as another request. */
  | { readonly kind: 'again'; readonly waitMs: number }

export interface LineRun {
  readonly batch: OpenBatch
  readonly line: ClaimedLine
  /** The body of its request. */
  readonly body: Fields
  /** The lease of the line is lost, or the process ends. */
  readonly signal: AbortSignal
  /** True if a process that died was answered, so that the line is settled. */
  readonly isSettled: boolean
  readonly perform: (request: InnerRequest) => Promise<InnerAnswer>
}

/** Returns the id of the log of a line: the same when another process makes the same request again. */
export function logIdOf({ id }: Pick<OpenBatch, 'id'>, { line, failures, begunAt }: ClaimedLine): string {
  const bytes = createHash('sha256').update(`${id} ${line} ${failures}`).digest().subarray(0, 16)
  bytes.writeUIntBE(begunAt, 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Makes the request of a line, as a caller with the key of the batch would over HTTP. */
export async function runLine(run: LineRun): Promise<LineEnd> {
  const { batch, line, signal, isSettled, perform } = run
  const requestId = logIdOf(batch, line)
  await workTurn(batch.organisationId, line.bytes)
  const body = Buffer.from(exactJson(run.body))
  const headers = [...traced(batch), 'content-type', 'application/json', 'idempotency-key', requestId]
  try {
    const { endpoint: url, clientAddress, apiKeyId: keyId } = batch
    const answer = await perform({
      method: 'POST',
      url,
      headers,
      body,
      clientAddress,
      signal,
      line: { requestId, keyId, loggedAt: line.begunAt, isSettled },
    })
    const bytes = await upTo(answer.body, longestAnswer)
    await workTurn(batch.organisationId, bytes?.length ?? 0)
    return judged(run, { requestId, answer, bytes })
  } catch (error) {
    if (signal.aborted || line.failures + 1 < mostTries) return { kind: 'again', waitMs: waitOf(line) }
    const { code, message } = toApiError(error)
    return { kind: 'done', result: failedWithout({ batch, line }, { code, message }) }
  }
}

/** All logs of a batch have one trace, unless its maker named another. */
const traced = ({ id, headers }: OpenBatch): readonly string[] =>
  headerValue(headers, 'x-service-trace-id') === undefined ? [...headers, 'x-service-trace-id', id] : headers

/** Returns null for an answer that is longer. */
async function upTo(body: Readable, most: number): Promise<Buffer | null> {
  const held = new ByteList()
  for await (const piece of body as AsyncIterable<Buffer>) {
    held.push(piece)
    if (held.size > most) return null
  }
  return held.join()
}

interface LineAnswer {
  readonly requestId: string
  readonly answer: InnerAnswer
  readonly bytes: Buffer | null
}

function judged({ batch, line }: LineRun, { requestId, answer: { status, headers }, bytes }: LineAnswer): LineEnd {
  if (passing.has(status) && line.failures + 1 < mostTries) {
    const waitMs = askedWait(headers) ?? waitOf(line)
    if (Date.now() + waitMs < batch.expiresAt) return { kind: 'again', waitMs }
  }
  if (bytes === null) {
    const message = `The answer is longer than ${longestAnswer} bytes, which is the most that a batch keeps.`
    return { kind: 'done', result: failedWithout({ batch, line }, { code: 'response_too_large', message }) }
  }
  const json = jsonOrUndefined(bytes.toString('utf8'))
  const response = { status_code: status, request_id: requestId }
  const answered = bytes.toString('utf8')
  // Line ends in JSON stand between its parts. Written anew, large numbers would lose digits.
  const body = json === undefined ? JSON.stringify(answered) : answered.replaceAll(/[\r\n]+/g, ' ')
  const text = `{${opening(batch, line)},"response":${JSON.stringify(response).slice(0, -1)},"body":${body}},"error":null}`
  return { kind: 'done', result: { failed: status > 299, text: Buffer.from(text), ...tokensOf(json) } }
}

/** The first fields of a line of a result. */
const opening = ({ id }: Pick<OpenBatch, 'id'>, { line, customId, attempts, failures }: UnansweredLine['line']): string =>
  JSON.stringify({
    id: `batch_req_${id.slice('batch_gw'.length)}_${line}`,
    custom_id: customId,
    ...(attempts + failures > 1 && { attempts: attempts + failures }),
  }).slice(1, -1)

interface UnansweredLine {
  readonly batch: Pick<OpenBatch, 'id'>
  readonly line: Pick<ClaimedLine, 'line' | 'customId' | 'attempts' | 'failures'>
}

/** Returns the result of a line that has no answer. */
export const failedWithout = ({ batch, line }: UnansweredLine, error: { readonly code: string; readonly message: string }): LineResult => ({
  failed: true,
  text: Buffer.from(`{${opening(batch, line)},"response":null,"error":${JSON.stringify(error)}}`),
  inputTokens: 0,
  outputTokens: 0,
})

/** Returns the tokens that an answer reports, in the words of any of the formats. */
function tokensOf(json: unknown): Pick<LineResult, 'inputTokens' | 'outputTokens'> {
  const usage: Fields = isFields(json) && isFields(json['usage']) ? json['usage'] : {}
  return {
    inputTokens: wholeOf(usage['input_tokens'] ?? usage['prompt_tokens']),
    outputTokens: wholeOf(usage['output_tokens'] ?? usage['completion_tokens']),
  }
}

/** A provider may report any number. The sum of a batch stays exact, and fits its column. */
const mostTokens = 1_000_000_000
const wholeOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? Math.min(value, mostTokens) : 0

/** Longer after each failure, and not the same for all lines. */
const waitOf = ({ failures, line }: ClaimedLine): number => 1000 * 2 ** failures + (line % 10) * 50

function askedWait(headers: readonly string[]): number | null {
  const ms = Number(headerValue(headers, 'retry-after-ms') ?? '')
  if (ms > 0) return Math.min(ms, longestWaitMs)
  const seconds = Number(headerValue(headers, 'retry-after') ?? '')
  return seconds > 0 ? Math.min(seconds * 1000, longestWaitMs) : null
}
