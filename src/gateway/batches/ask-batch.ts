import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { prepare } from '../attempts/prepare.ts'
import type { AllowedHosts } from '../egress/allowed-hosts.ts'
import { duration } from '../egress/failures.ts'
import { narrowed } from '../egress/narrowed.ts'
import { matchOperation } from '../front/match.ts'
import { askProvider, type ProviderAccess, type Question, toRequest } from '../models/ask-provider.ts'
import type { Target } from '../targets/target.ts'
import { isBatchId, isResponseId, isVideoId } from './begun-batch.ts'
import { type JobFacts, readReference, textOf, within } from './job-reference.ts'
import { longestLine, splitLines } from './split-lines.ts'
import { videoApiOf } from './video-apis.ts'
import type { MadeVideo } from './video-cost.ts'

/** A provider with the credential by which it is asked. */
export interface AskedProvider extends ProviderAccess {
  readonly target: Target
  /** The hosts to which the organisation lets requests go; null: all. */
  readonly allowedHosts: AllowedHosts | null
}

/** A batch as its provider tells it. */
export interface ToldBatch {
  /** True when nothing of it runs any more. */
  readonly ended: boolean
  /** `completed`, `expired`, `cancelled`, `failed` …, in the provider's words. */
  readonly status: string
  /** The path that its requests asked for, such as `/v1/chat/completions`. */
  readonly endpoint: string
  /** The path of the lines with the answers; null: there are none. */
  readonly answers: string | null
  readonly kind: 'batch' | 'video' | 'response'
  /** The video that it made; null: it is none, or was not made. */
  readonly video: MadeVideo | null
  /** The response that ended; null: it is none, or costs nothing. */
  readonly response: Fields | null
}

/** An API for batches: where a batch is told, and how. */
interface BatchApi {
  readonly path: (id: string) => string
  /** Null: this is no batch. */
  readonly read: (told: Fields, id: string) => ToldBatch | null
}

const nothing = { kind: 'batch', answers: null, video: null, response: null } as const
const endedStatuses: ReadonlySet<unknown> = new Set(['completed', 'expired', 'cancelled', 'failed'])

/**
 * platform.openai.com/docs/api-reference/batch: the answers are in a file. Azure may write them into a store of the customer's instead. Throws
 * `upstream_bad_response` when a batch that has ended has answers, and none that can be read.
 */
const ofOpenai: BatchApi = {
  path: (id) => `/batches/${id}`,
  read(told) {
    const { status, endpoint, output_file_id: output } = told
    if (typeof status !== 'string') return null
    const ended = endedStatuses.has(status)
    if (ended && !isBatchId(output) && hasAnswers(told))
      throw new ApiError('upstream_bad_response', 'The provider keeps the answers of the batch where Gatehouse cannot read them.')
    return {
      ...nothing,
      ended,
      status: status.slice(0, 40),
      endpoint: typeof endpoint === 'string' ? endpoint : '',
      answers: isBatchId(output) ? `/files/${output}/content` : null,
    }
  },
}

/** Returns true if a batch tells that requests of it were answered, or at least where the answers are. */
function hasAnswers(told: Fields): boolean {
  const { completed } = within(told, 'request_counts')
  return typeof completed === 'number' ? completed > 0 : (textOf(told['output_blob']) ?? '') !== ''
}

/** docs.anthropic.com/en/api/creating-message-batches: the answers are below the batch; the address that it tells for them is not asked. */
const ofAnthropic: BatchApi = {
  path: (id) => `/messages/batches/${id}`,
  read: ({ processing_status: status, results_url: results }, id) =>
    typeof status === 'string'
      ? {
          ...nothing,
          ended: status === 'ended',
          status: status.slice(0, 40),
          endpoint: '/v1/messages',
          answers: typeof results === 'string' ? `/messages/batches/${id}/results` : null,
        }
      : null,
}

/** platform.openai.com/docs/guides/background: a response that runs in the background tells its usage when it has ended, also when it failed after a while. */
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

/** Throws `upstream_bad_response` when a video that was made tells neither its length nor its cost. */
function ofVideos(provider: string, facts: JobFacts): BatchApi {
  return {
    path: (id) => `/videos/${id}`,
    read: (told) => {
      const video = videoApiOf(provider)?.read(told, facts) ?? null
      if (video?.made?.length === 0 && video.made.reported === null)
        throw new ApiError('upstream_bad_response', 'The provider does not tell how long the video is, or of which size.')
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
  isVideoId(id)
    ? ofVideos(target.providerId, {})
    : isResponseId(id)
      ? ofResponses
      : target.provider.speaks.some(({ operation }) => operation === 'createMessageBatch')
        ? ofAnthropic
        : ofOpenai

const timeoutMs = 30_000

/** Asks a provider for a batch, a video or a response by what was noted of it, with the target's credential. Rejects with an ApiError when it does not say. */
export async function askBatch(provider: AskedProvider, noted: string): Promise<ToldBatch> {
  const reference = readReference(noted)
  const { path, read } = reference === null ? apiOf(provider, noted) : ofVideos(provider.target.providerId, reference.facts)
  const question = questionOf(provider, reference?.path ?? path(noted))
  const operation = reference?.facts.operation
  const { status, text } = await askProvider(
    operation === undefined ? question : { ...question, body: JSON.stringify({ operationName: operation }) },
    accessOf(provider),
  )
  if (status < 200 || status > 299) throw new ApiError('upstream_bad_response', `The provider answers ${status} for the ${nounOf(noted)}.`)
  const told = jsonOrUndefined(text)
  const batch = isFields(told) ? read(told, noted) : null
  if (batch === null) throw new ApiError('upstream_bad_response', `The provider tells no ${nounOf(noted)}.`)
  return batch
}

const nounOf = (noted: string): string => (isResponseId(noted) ? 'response' : isVideoId(noted) || noted.startsWith('/') ? 'video' : 'batch')

/** The bounds of one file of answers. */
export interface FileBounds {
  readonly timeMs: number
  readonly bytes: number
}

/** Reads the answers of a batch one after another, and holds one of them at a time. Rejects with an ApiError when they do not come whole, within bounds. */
export async function eachAnswer(
  provider: AskedProvider,
  { path, bounds }: { readonly path: string; readonly bounds: FileBounds },
  take: (answer: Fields) => void,
): Promise<void> {
  const { origin, request } = await prepare(toRequest(questionOf(provider, path), accessOf(provider)))
  let unread = 0
  let size = 0
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => {
      fail(new ApiError('upstream_timeout', `The file of answers did not come whole within ${duration(bounds.timeMs)}.`))
    }, bounds.timeMs)
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
        if (size > bounds.bytes) fail(new ApiError('upstream_bad_response', `The file of answers is longer than ${bounds.bytes} bytes.`))
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
