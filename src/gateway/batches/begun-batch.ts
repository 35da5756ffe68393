import type { RelayResult } from '../answers/relay.ts'
import type { Operation } from '../front/operations.ts'
import { lastAttempt, sentBody, type Trail } from '../trail.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { writeReference } from './job-reference.ts'
import { referToVideo } from './video-apis.ts'

const begin: ReadonlySet<string> = new Set<Operation>(['createBatch', 'createMessageBatch'])

/** The ids that a provider gives to batches and files: nothing else is put into a path. */
export const isBatchId = (id: unknown): id is string => typeof id === 'string' && /^\w[\w.-]{0,199}$/.test(id)

/** Returns true for the id of a video of OpenAI's, which is made as a job too. */
export const isVideoId = (id: string): boolean => id.startsWith('video_')

/** Returns true for the id of a response, which may run in the background. */
export const isResponseId = (id: string): boolean => id.startsWith('resp_')

/** Returns what is noted of the batch, the video or the response in the background that an exchange began; null, as for nearly every exchange: it began none. */
export function begunBatch(trail: Trail, result: RelayResult | null): string | null {
  if (result === null || result.status >= 300) return null
  const { name } = trail.operation
  if (name === 'createModelResponse') return goesOn(trail) ? responseIn(result) : null
  if (name === 'proxy') return trail.work?.beginsJob === true ? videoIn(trail, answerOf(result)) : null
  return begin.has(name) ? batchIn(answerOf(result)) : null
}

/** Returns true for a response that goes on in the background and told no usage. One that told it is charged by that, whenever its model has a price. */
function goesOn(trail: Trail): boolean {
  const json = sentBody(trail)?.json
  const charge = lastAttempt(trail)?.charge
  return isFields(json) && json['background'] === true && charge?.cost.state === 'unpriced' && charge.facts === null
}

function answerOf(result: RelayResult): Fields | null {
  const answer = jsonOrUndefined(result.capture.plain(result.encoding).toString('utf8'))
  return isFields(answer) ? answer : null
}

/** Together tells a batch in `job`; xAI calls its id `batch_id`. */
function batchIn(answer: Fields | null): string | null {
  const { job, id, batch_id: other = id } = answer ?? {}
  const named = isFields(job) ? job['id'] : other
  return isBatchId(named) ? named : null
}

/** Returns how the video is noted that an answer names: by its id, where the path is OpenAI's own. */
function videoIn(trail: Trail, answer: Fields | null): string | null {
  const provider = lastAttempt(trail)?.target?.providerId ?? ''
  const reference = answer === null ? null : referToVideo(provider, { path: pathOf(trail), asked: askedOf(trail), answer })
  const noted = reference && writeReference(reference)
  const [, id = ''] = /^\/videos\/([\w.-]+)$/.exec(noted ?? '') ?? []
  return isVideoId(id) ? id : noted
}

/** Returns the path below the provider's base URL, as it was sent. */
const pathOf = (trail: Trail): string => (lastAttempt(trail)?.path ?? trail.path).replace(/^\/proxy(?=\/)/, '').replace(/\?.*$/, '')

function askedOf(trail: Trail): Fields {
  const asked = sentBody(trail)?.json
  return isFields(asked) ? asked : {}
}

/** A stream that broke off names its response in its beginning too. */
function responseIn(result: RelayResult): string | null {
  const [, id] = /"id"\s*:\s*"(resp_[\w.-]{1,200})"/.exec(result.capture.plain(result.encoding).toString('latin1', 0, 4096)) ?? []
  return id ?? null
}
