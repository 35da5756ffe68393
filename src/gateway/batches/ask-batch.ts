import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { prepare } from '../attempts/prepare.ts'
import type { AllowedHosts } from '../egress/allowed-hosts.ts'
import { milliseconds } from '../dialects/read-counts.ts'
import { narrowed } from '../egress/narrowed.ts'
import { matchOperation } from '../front/match.ts'
import { askProvider, type ProviderAccess, type Question, toRequest } from '../models/ask-provider.ts'
import type { Target } from '../targets/target.ts'
import { isBatchId, isVideoId } from './begun-batch.ts'
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
  /** True for a video. */
  readonly isVideo: boolean
  /** The video that it made; null: it is none, or was not made. */
  readonly video: MadeVideo | null
}

/** An API for batches: where a batch is told, and how. */
interface BatchApi {
  readonly path: (id: string) => string
  /** Null: this is no batch. */
  readonly read: (told: Fields, id: string) => ToldBatch | null
}

const endedStatuses: ReadonlySet<unknown> = new Set(['completed', 'expired', 'cancelled', 'failed'])

/** platform.openai.com/docs/api-reference/batch: the answers are in a file. */
const ofOpenai: BatchApi = {
  path: (id) => `/batches/${id}`,
  read: ({ status, endpoint, output_file_id: output }) =>
    typeof status === 'string'
      ? {
          ended: endedStatuses.has(status),
          status: status.slice(0, 40),
          endpoint: typeof endpoint === 'string' ? endpoint : '',
          answers: isBatchId(output) ? `/files/${output}/content` : null,
          isVideo: false,
          video: null,
        }
      : null,
}

/** docs.anthropic.com/en/api/creating-message-batches: the answers are below the batch; the address that it tells for them is not asked. */
const ofAnthropic: BatchApi = {
  path: (id) => `/messages/batches/${id}`,
  read: ({ processing_status: status, results_url: results }, id) =>
    typeof status === 'string'
      ? {
          ended: status === 'ended',
          status: status.slice(0, 40),
          endpoint: '/v1/messages',
          answers: typeof results === 'string' ? `/messages/batches/${id}/results` : null,
          isVideo: false,
          video: null,
        }
      : null,
}

/** platform.openai.com/docs/api-reference/videos: one that failed costs nothing. */
const ofVideos: BatchApi = {
  path: (id) => `/videos/${id}`,
  read: (told) => {
    const { status } = told
    return typeof status === 'string'
      ? {
          ended: endedStatuses.has(status),
          status: status.slice(0, 40),
          endpoint: '/v1/videos',
          answers: null,
          isVideo: true,
          video: status === 'completed' ? videoOf(told) : null,
        }
      : null
  },
}

/** Throws `upstream_bad_response` when a video that was made does not tell its length. */
function videoOf({ model, seconds, size }: Fields): MadeVideo {
  const length = milliseconds(Number(seconds))
  if (typeof model !== 'string' || length === 0)
    throw new ApiError('upstream_bad_response', 'The provider does not tell how long the video is.')
  return { model, length, size: typeof size === 'string' ? size : '' }
}

const apiOf = ({ target }: AskedProvider, id: string): BatchApi =>
  isVideoId(id) ? ofVideos : target.provider.speaks.some(({ operation }) => operation === 'createMessageBatch') ? ofAnthropic : ofOpenai

const timeoutMs = 30_000

/** Asks a provider for a batch, with the target's credential. Rejects with an ApiError when it does not say. */
export async function askBatch(provider: AskedProvider, id: string): Promise<ToldBatch> {
  const { path, read } = apiOf(provider, id)
  const { status, text } = await askProvider(questionOf(provider, path(id)), accessOf(provider))
  if (status !== 200) throw new ApiError('upstream_bad_response', `The provider answers ${status} for the batch.`)
  const told = jsonOrUndefined(text)
  const batch = isFields(told) ? read(told, id) : null
  if (batch === null) throw new ApiError('upstream_bad_response', 'The provider tells no batch.')
  return batch
}

/** A line is an answer of one request: vectors and images make it long. */
const longestLine = 64 * 1024 * 1024

/** Reads the answers of a batch one after another, and holds one of them at a time. Rejects with an ApiError when they do not come whole. */
export async function eachAnswer(provider: AskedProvider, path: string, take: (answer: Fields) => void): Promise<void> {
  const { origin, request } = await prepare(toRequest(questionOf(provider, path), accessOf(provider)))
  let unread = 0
  await new Promise<void>((resolve, reject) => {
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
        if (!lines.add(chunk)) fail(new ApiError('upstream_bad_response', `An answer is longer than ${longestLine} bytes.`))
      },
      onEnd() {
        lines.end()
        if (unread > 0) fail(new ApiError('upstream_bad_response', `${unread} lines of the file of answers cannot be read.`))
        else resolve()
      },
      onError: reject,
    })
    const fail = (error: ApiError) => {
      call.abort()
      reject(error)
    }
  })
}

/** Cuts chunks into lines. `add` returns false when a line is too long. */
function splitLines(take: (line: Buffer) => void) {
  let held: Buffer[] = []
  let size = 0
  const cut = (last: Buffer) => {
    if (size + last.length > 0) take(held.length === 0 ? last : Buffer.concat([...held, last]))
    held = []
    size = 0
  }
  return {
    add(chunk: Buffer): boolean {
      let from = 0
      for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, from)) {
        cut(chunk.subarray(from, at))
        from = at + 1
      }
      held.push(chunk.subarray(from))
      size += chunk.length - from
      return size <= longestLine
    },
    end: () => cut(Buffer.alloc(0)),
  }
}

const accessOf = ({ egress, signing, allowedHosts }: AskedProvider): ProviderAccess => ({ egress: narrowed(egress, allowedHosts), signing })
const questionOf = ({ target }: AskedProvider, path: string): Question => ({
  target,
  path,
  operation: matchOperation('GET', path),
  timeoutMs,
})
