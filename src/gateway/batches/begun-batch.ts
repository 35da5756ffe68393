import type { RelayResult } from '../answers/relay.ts'
import type { Attempt } from '../attempts/attempt.ts'
import type { Operation } from '../operations/operations.ts'
import type { Trail } from '../trail.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { BegunJob } from './begun-job.ts'
import { writeReference } from './job-reference.ts'
import { referToVideo } from './video-apis.ts'

const begin: ReadonlySet<string> = new Set<Operation>(['createBatch', 'createMessageBatch'])

/** The ids that a provider gives to batches and files: no other text is put into a path. */
export const isBatchId = (id: unknown): id is string => typeof id === 'string' && /^\w[\w.-]{0,199}$/.test(id)

/** Returns true for the id of a video of OpenAI's, which is made as a job too. */
export const isVideoId = (id: string): boolean => id.startsWith('video_')

/** Returns true for the id of a response, which may run in the background. */
export const isResponseId = (id: string): boolean => id.startsWith('resp_')

/** The part of an exchange, and of an answer, that identifies a begun job. */
type Beginning = Pick<Trail, 'operation' | 'work' | 'path'>
type Answer = Pick<RelayResult, 'status' | 'capture' | 'encoding'>

/** Returns the batch, the video or the response in the background that an attempt began at a stored provider; null, as for nearly every one: it began none. */
export function begunJob(attempt: Attempt, beginning: Beginning, answer: Answer | null): BegunJob | null {
  const { target, prepared } = attempt
  if (answer === null || answer.status >= 300 || target === null || target.view === null) return null
  const noted = notedOf(attempt, beginning, answer)
  if (noted === null) return null
  const { id: providerId, slug } = target.view
  return { noted, provider: target.providerId, slug, providerId, host: target.customHost?.url ?? prepared?.origin.origin ?? null }
}

function notedOf(attempt: Attempt, { operation: { name }, work, path }: Beginning, answer: Answer): string | null {
  if (name === 'createModelResponse') return goesOn(attempt) ? responseIn(answer) : null
  if (name === 'proxy') return work?.beginsJob === true ? videoIn(attempt, path, answerOf(answer)) : null
  return begin.has(name) ? batchIn(answerOf(answer)) : null
}

/**
 * Returns true for a response that goes on in the background and stated no usage. One that stated it is charged by that, whenever its model has a
 * price.
 */
function goesOn({ body, charge }: Attempt): boolean {
  const json = body?.json
  return isFields(json) && json['background'] === true && charge?.cost.state === 'unpriced' && charge.facts === null
}

function answerOf(result: Answer): Fields | null {
  const answer = jsonOrUndefined(result.capture.plain(result.encoding).toString('utf8'))
  return isFields(answer) ? answer : null
}

/** Together returns a batch in `job`; xAI calls its id `batch_id`. */
function batchIn(answer: Fields | null): string | null {
  const { job, id, batch_id: other = id } = answer ?? {}
  const named = isFields(job) ? job['id'] : other
  return isBatchId(named) ? named : null
}

/** Returns how the video is noted that an answer names: by its id, where the path is OpenAI's own. */
function videoIn({ target, path: sent, body }: Attempt, path: string, answer: Fields | null): string | null {
  const asked = isFields(body?.json) ? body.json : {}
  const reference = answer === null ? null : referToVideo(target?.providerId ?? '', { path: pathOf(sent ?? path), asked, answer })
  const noted = reference && writeReference(reference)
  const [, id = ''] = /^\/videos\/([\w.-]+)$/.exec(noted ?? '') ?? []
  return isVideoId(id) ? id : noted
}

/** Returns a path below the provider's base URL. */
const pathOf = (sent: string): string => sent.replace(/^\/proxy(?=\/)/, '').replace(/\?.*$/s, '')

/** A stream that broke off names its response in its beginning too. */
function responseIn(result: Answer): string | null {
  const [, id] = /"id"\s*:\s*"(resp_[\w.-]{1,200})"/.exec(result.capture.plain(result.encoding).toString('latin1', 0, 4096)) ?? []
  return id ?? null
}
