import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Target } from '../targets/target.ts'
import { isBatchId } from './begun-batch.ts'
import { textOf, within } from './job-reference.ts'
import type { MadeVideo } from './video-cost.ts'

/** A batch in its provider's answer. */
export interface ToldBatch {
  /** True when no part of it runs any more. */
  readonly ended: boolean
  /** `completed`, `expired`, `cancelled`, `failed` …, in the provider's words. */
  readonly status: string
  /** The path that its requests asked for, such as `/v1/chat/completions`. */
  readonly endpoint: string
  /** The path of the answers; null: there are none. */
  readonly answers: string | null
  /** How many of its requests succeeded, by its provider's count; null: there is none. */
  readonly succeeded: number | null
  readonly kind: 'batch' | 'video' | 'response'
  /** The video that it made; null: it is none, or was not made. */
  readonly video: MadeVideo | null
  /** The response that ended; null: it is none, or is free. */
  readonly response: Fields | null
}

/** Some answers of a batch, each as a line of OpenAI's file has it, and the name of the next page; null: this was the last. */
export interface AnswerPage {
  readonly answers: readonly Fields[]
  readonly next: string | null
}

/** An API for batches: where a batch can be read, and how. */
export interface BatchApi {
  readonly path: (id: string) => string
  /** Null: this is no batch. */
  readonly read: (told: Fields, id: string) => ToldBatch | null
  /** Reads one page of the answers; absent: they are in a file, a line each. Null: this is no page. */
  readonly page?: (told: Fields) => AnswerPage | null
}

export const nothing = { kind: 'batch', answers: null, succeeded: null, video: null, response: null } as const
const endedStatuses: ReadonlySet<unknown> = new Set(['completed', 'expired', 'cancelled', 'failed'])

/**
 * platform.openai.com/docs/api-reference/batch: the answers are in a file. Azure may write them into a store of the customer's instead. Throws
 * `upstream_bad_response` when a batch that has ended may have answers, and none that can be read.
 */
const ofOpenai: BatchApi = {
  path: (id) => `/batches/${id}`,
  read: (told) => readOpenai(told, mayHaveAnswers(told)),
}

function readOpenai(told: Fields, hasAnswers: boolean): ToldBatch | null {
  const { status, endpoint, output_file_id: output } = told
  if (typeof status !== 'string') return null
  const ended = endedStatuses.has(status)
  if (ended && !isBatchId(output) && hasAnswers) throw unreadable()
  return {
    ...nothing,
    ended,
    status: status.slice(0, 40),
    endpoint: typeof endpoint === 'string' ? endpoint : '',
    answers: isBatchId(output) ? `/files/${output}/content` : null,
    succeeded: countIn(within(told, 'request_counts'), 'completed'),
  }
}

const unreadable = (): ApiError =>
  new ApiError('upstream_bad_response', 'The provider keeps the answers of the batch where Gatehouse cannot read them.')

/** Returns true unless a batch states that none of its requests was answered: an invalid one fails as a whole, before any of them runs. */
function mayHaveAnswers(told: Fields): boolean {
  const { completed } = within(told, 'request_counts')
  return typeof completed === 'number' ? completed > 0 : told['status'] !== 'failed' || (textOf(told['output_blob']) ?? '') !== ''
}

/** docs.together.ai/reference/batch-get: OpenAI's, with its states in capitals and without counts. The answer that began one holds it in `job`. */
const ofTogether: BatchApi = {
  ...ofOpenai,
  read(told) {
    const job = isFields(told['job']) ? told['job'] : told
    const status = typeof job['status'] === 'string' ? job['status'].toLowerCase() : null
    // Where every request failed there is a file of errors alone.
    return readOpenai({ ...job, status }, status !== 'failed' && !isBatchId(job['error_file_id']))
  },
}

/**
 * docs.anthropic.com/en/api/creating-message-batches: the answers are below the batch; the address in its answer is not used. Throws
 * `upstream_bad_response` when a batch that has ended states no address, nor that none of its requests succeeded.
 */
const ofAnthropic: BatchApi = {
  path: (id) => `/messages/batches/${id}`,
  read(told, id) {
    const { processing_status: status, results_url: results } = told
    if (typeof status !== 'string') return null
    const ended = status === 'ended'
    const hasResults = typeof results === 'string'
    const counts = within(told, 'request_counts')
    if (ended && !hasResults && counts['succeeded'] !== 0) throw unreadable()
    const answers = hasResults ? `/messages/batches/${id}/results` : null
    return { ...nothing, ended, status: status.slice(0, 40), endpoint: '/v1/messages', answers, succeeded: countIn(counts, 'succeeded') }
  },
}

const resultsOfPage = 100

/**
 * docs.x.ai/developers/advanced-api-usage/batch-api: it has counts in place of a state, and pages of answers in place of a file. Each answer is
 * below the name of its method, such as `chat_get_completion`.
 */
const ofXai: BatchApi = {
  path: (id) => `/batches/${id}`,
  read(told, id) {
    if (told['batch_id'] !== id || !isFields(told['state'])) return null
    const status = stateOfXai(told, told['state'])
    const succeeded = countOf(told['state'], 'num_success')
    return {
      ...nothing,
      ended: status !== 'in_progress',
      status,
      endpoint: '/v1/chat/completions',
      succeeded,
      answers: succeeded > 0 ? `/batches/${id}/results?limit=${resultsOfPage}` : null,
    }
  },
  page({ results, pagination_token: next }) {
    if (!Array.isArray(results)) return null
    return { answers: results.filter(isFields).map(lineOfXai), next: typeof next === 'string' && next !== '' ? next : null }
  },
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Requests are not counted before the file of a batch is read. A batch without a file takes more requests after it has answered those that it had: it
 * counts as complete a day after the day on which it was made.
 */
function stateOfXai(
  { cancel_time: cancelled, cancel_by_xai_message: refused, input_file_id: file, create_time: made }: Fields,
  state: Fields,
) {
  if (countOf(state, 'num_pending') > 0) return 'in_progress'
  if (textOf(refused)) return 'failed'
  if (textOf(cancelled)) return 'cancelled'
  if (countOf(state, 'num_requests') === 0) return 'in_progress'
  return isBatchId(file) || Date.now() > Date.parse(String(made)) + 2 * dayMs ? 'completed' : 'in_progress'
}

const countIn = (counts: Fields, name: string): number | null => (typeof counts[name] === 'number' ? counts[name] : null)
const countOf = (state: Fields, name: string): number => countIn(state, name) ?? 0

function lineOfXai(result: Fields): Fields {
  const body = Object.values(within(within(result, 'batch_result'), 'response')).find(isFields)
  return body === undefined ? {} : { response: { body } }
}

const apis: Readonly<Record<string, BatchApi>> = { 'together-ai': ofTogether, 'x-ai': ofXai }

/** Returns the API by which a provider makes batches: that of Anthropic where it has batches of messages, or else OpenAI's. */
export const batchApiOf = ({ providerId, provider }: Target): BatchApi =>
  apis[providerId] ?? (provider.speaks.some(({ operation }) => operation === 'createMessageBatch') ? ofAnthropic : ofOpenai)
