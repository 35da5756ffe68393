import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { prepare } from '../outgoing/prepare.ts'
import type { AllowedHosts } from '../egress/allowed-hosts.ts'
import { duration } from '../egress/failures.ts'
import { narrowed } from '../egress/narrowed.ts'
import { matchOperation } from '../operations/match.ts'
import { askProvider, originOfQuestion, type ProviderAccess, type Question, toRequest } from '../models/ask-provider.ts'
import type { Target } from '../targets/target.ts'
import { type AnswerPage, type BatchApi, batchApiOf, nothing, type ToldBatch } from './batch-apis.ts'
import { isResponseId, isVideoId } from './begun-batch.ts'
import { type JobFacts, readReference } from './job-reference.ts'
import { longestLine, splitLines } from './split-lines.ts'
import { videoApiOf } from './video-apis.ts'

export type { ToldBatch }

/** A provider with the credential by which it is asked. */
export interface AskedProvider extends ProviderAccess {
  readonly target: Target
  /** The hosts to which the organisation lets requests go; null: all. */
  readonly allowedHosts: AllowedHosts | null
  /** The host that took the job, and may be asked alone; null: it was not noted. */
  readonly tookAt: string | null
}

/**
 * platform.openai.com/docs/guides/background: a response that runs in the background states its usage when it has ended, also when it failed after a
 * while.
 */
const ofResponses: BatchApi = {
  path: (id) => `/responses/${id}`,
  read: (told) => {
    const { status, usage } = told
    if (typeof status !== 'string') return null
    const ended = status !== 'queued' && status !== 'in_progress'
    const isCharged = ended && (isFields(usage) || status === 'completed' || status === 'incomplete')
    return {
      ...nothing,
      kind: 'response',
      ended,
      status: status.slice(0, 40),
      endpoint: '/v1/responses',
      response: isCharged ? told : null,
    }
  },
}

/** Throws `upstream_bad_response` when a finished video states neither its length nor its cost. */
function ofVideos(provider: string, facts: JobFacts): BatchApi {
  return {
    path: (id) => `/videos/${id}`,
    read: (told) => {
      const video = videoApiOf(provider)?.read(told, facts) ?? null
      if (video?.made?.length === 0 && video.made.reported === null)
        throw new ApiError('upstream_bad_response', 'The provider does not state the length of the video, or its size.')
      return (
        video && {
          ...nothing,
          kind: 'video',
          ended: video.ended,
          status: video.status.slice(0, 40),
          endpoint: '/v1/videos',
          video: video.made,
        }
      )
    },
  }
}

const apiOf = ({ target }: AskedProvider, id: string): BatchApi =>
  isVideoId(id) ? ofVideos(target.providerId, {}) : isResponseId(id) ? ofResponses : batchApiOf(target)

const timeoutMs = 30_000

/**
 * Asks a provider for a batch, a video or a response by its noted reference, with the target's credential. Rejects with an ApiError when the answer
 * does not state it.
 */
export async function askBatch(provider: AskedProvider, noted: string): Promise<ToldBatch> {
  const reference = readReference(noted)
  const { path, read } = reference === null ? apiOf(provider, noted) : ofVideos(provider.target.providerId, reference.facts)
  const question = questionOf(provider, reference?.path ?? path(noted))
  await demandSameHost(provider, question)
  const operation = reference?.facts.operation
  const { status, text } = await askProvider(
    operation === undefined ? question : { ...question, body: JSON.stringify({ operationName: operation }) },
    accessOf(provider),
  )
  if (status < 200 || status > 299)
    throw new ApiError(
      status === 404 || status === 410 ? 'not_found' : 'upstream_bad_response',
      `The provider answers ${status} for the ${nounOf(noted)}.`,
    )
  const told = jsonOrUndefined(text)
  const batch = isFields(told) ? read(told, noted) : null
  if (batch === null) throw new ApiError('upstream_bad_response', `The provider returns no ${nounOf(noted)}.`)
  return batch
}

/**
 * A host that the provider has since then does not have the job, or has one of its own with that id; the former one may see no credential that is
 * stored for it.
 */
async function demandSameHost(provider: AskedProvider, question: Question): Promise<void> {
  const { tookAt, target } = provider
  if (tookAt === null) return
  const host = target.customHost?.url ?? (await originOfQuestion(question, accessOf(provider))).origin
  if (host !== tookAt) throw new ApiError('not_found', 'Its provider has another host now than the one that took it.')
}

const nounOf = (noted: string): string => (isResponseId(noted) ? 'response' : isVideoId(noted) || noted.startsWith('/') ? 'video' : 'batch')

/** The bounds of all answers of a batch. */
export interface FileBounds {
  readonly timeMs: number
  readonly bytes: number
}

/** The place of a batch's answers, and their bounds. */
interface Answers {
  /** The path of a file, or of the first of several pages. */
  readonly path: string
  readonly bounds: FileBounds
}

type Take = (answer: Fields) => void

/** Reads the answers of a batch one after another, and holds one of them, or a page, at a time. Rejects with an ApiError when they do not come whole, within bounds. */
export async function eachAnswer(provider: AskedProvider, answers: Answers, take: Take): Promise<void> {
  const { page } = batchApiOf(provider.target)
  await (page === undefined ? eachLine(provider, answers, take) : eachOfPages(provider, { ...answers, page }, take))
}

interface Pages extends Answers {
  readonly page: NonNullable<BatchApi['page']>
}

async function eachOfPages(provider: AskedProvider, { path, page, bounds }: Pages, take: Take): Promise<void> {
  const seen = new Set<string>()
  const until = performance.now() + bounds.timeMs
  let size = 0
  for (let next: string | null = ''; next !== null;) {
    const { status, text } = await askProvider(questionOf(provider, next === '' ? path : `${path}&${tokenOf(next)}`), accessOf(provider))
    const told = status === 200 ? jsonOrUndefined(text) : null
    const read: AnswerPage | null = isFields(told) ? page(told) : null
    if (read === null) throw new ApiError('upstream_bad_response', `The provider answers ${status}, and no page of answers.`)
    if (seen.has(next)) throw new ApiError('upstream_bad_response', 'The pages of answers do not end.')
    seen.add(next)
    for (const answer of read.answers) take(answer)
    size += text.length
    next = read.next
    if (next !== null && size > bounds.bytes) throw tooLong(bounds)
    if (next !== null && performance.now() > until) throw tooLate(bounds)
  }
}

const tokenOf = (next: string): string => new URLSearchParams({ pagination_token: next }).toString()

const tooLate = ({ timeMs }: FileBounds): ApiError =>
  new ApiError('upstream_timeout', `The answers of the batch did not come whole within ${duration(timeMs)}.`)
const tooLong = ({ bytes }: FileBounds): ApiError =>
  new ApiError('upstream_bad_response', `The answers of the batch are longer than ${bytes} bytes.`)

async function eachLine(provider: AskedProvider, { path, bounds }: Answers, take: Take): Promise<void> {
  const { origin, request } = await prepare(toRequest(questionOf(provider, path), accessOf(provider)))
  let unread = 0
  let size = 0
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => fail(tooLate(bounds)), bounds.timeMs)
    const lines = splitLines((line) => {
      const answer = jsonOrUndefined(line.toString('utf8'))
      if (isFields(answer)) take(answer)
      else unread += 1
    })
    const call = origin.send(request, {
      onHeaders(status) {
        if (status !== 200) fail(new ApiError('upstream_bad_response', `The provider answers ${status} for the file of answers.`))
      },
      onData(chunk) {
        size += chunk.length
        if (size > bounds.bytes) fail(tooLong(bounds))
        else if (!lines.add(chunk)) fail(new ApiError('upstream_bad_response', `An answer is longer than ${longestLine} bytes.`))
      },
      onEnd() {
        clearTimeout(late)
        lines.end()
        if (unread > 0) fail(new ApiError('upstream_bad_response', `${unread} lines of the file of answers cannot be read.`))
        else resolve()
      },
      onError: (error) => fail(error),
    })
    const fail = (error: Error) => {
      clearTimeout(late)
      call.abort()
      reject(error)
    }
  })
}

const accessOf = ({ egress, signing, allowedHosts }: AskedProvider): ProviderAccess => ({ egress: narrowed(egress, allowedHosts), signing })
const questionOf = ({ target }: AskedProvider, path: string): Question => ({
  target,
  path,
  operation: matchOperation('GET', path),
  timeoutMs,
  // Pictures make a response as long as a line of a file of answers, and videos the answer of an operation.
  maxBytes: longestLine,
})
