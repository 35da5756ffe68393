import { anthropicError, openaiError, type Answer, type Asked } from './answer.ts'
import { countTokens, messageBatch, messages } from './anthropic.ts'
import { chatCompletions, completions, embeddings } from './chat.ts'
import { cancelResponse, compactResponse, countResponse, createResponse, deleteResponse, getResponse, inputItems } from './responses.ts'
import * as resources from './resources.ts'

type Answerer = (asked: Asked, store: resources.Store) => Answer

/** Matched against the end of the path, so that any base path serves: `/v1`, `/openai/v1`, `/openai/deployments/x`. */
const routes: readonly (readonly [method: string, pattern: RegExp, answer: Answerer])[] = [
  ['POST', /\/chat\/completions$/, chatCompletions],
  ['POST', /\/completions$/, completions],
  ['POST', /\/embeddings$/, embeddings],
  ['POST', /\/messages\/count_tokens$/, countTokens],
  ['GET', /\/threads\/([^/]+)\/messages$/, resources.threadMessages],
  ['POST', /\/messages$/, messages],
  ['POST', /\/responses$/, createResponse],
  ['POST', /\/responses\/input_tokens$/, countResponse],
  ['POST', /\/responses\/compact$/, compactResponse],
  ['POST', /\/responses\/([^/]+)\/cancel$/, cancelResponse],
  ['GET', /\/responses\/([^/]+)\/input_items$/, inputItems],
  ['GET', /\/responses\/([^/]+)$/, getResponse],
  ['DELETE', /\/responses\/([^/]+)$/, deleteResponse],
  ['POST', /\/files$/, resources.uploadFile],
  ['GET', /\/files$/, resources.list('files')],
  ['GET', /\/files\/([^/]+)\/content$/, resources.fileContent],
  ['GET', /\/files\/([^/]+)$/, resources.getOne('files')],
  ['DELETE', /\/files\/([^/]+)$/, resources.deleteFile],
  ['POST', /\/messages\/batches$/, messageBatch],
  ['POST', /\/batches$/, resources.createBatch],
  ['GET', /\/batches$/, resources.list('batches')],
  ['GET', /\/batches\/([^/]+)$/, resources.getOne('batches')],
  ['POST', /\/batches\/([^/]+)\/cancel$/, resources.cancel('batches', 'cancelling')],
  ['POST', /\/fine_tuning\/jobs$/, resources.createFineTune],
  ['GET', /\/fine_tuning\/jobs$/, resources.list('fine-tunes')],
  ['GET', /\/fine_tuning\/jobs\/([^/]+)$/, resources.getOne('fine-tunes')],
  ['POST', /\/fine_tuning\/jobs\/([^/]+)\/cancel$/, resources.cancel('fine-tunes', 'cancelled')],
  ['POST', /\/moderations$/, resources.moderations],
  ['POST', /\/images\/(?:generations|edits|variations)$/, resources.images],
  ['POST', /\/audio\/speech$/, resources.speech],
  ['POST', /\/audio\/(?:transcriptions|translations)$/, resources.transcription],
  ['GET', /\/models$/, resources.models],
]

/** The normal answer to a request; 404 in the provider's shape for an unknown path. */
export function answerNormally(asked: Asked, store: resources.Store): Answer {
  for (const [method, pattern, answer] of routes) {
    const match = method === asked.method ? pattern.exec(asked.path) : null
    if (match !== null) return answer({ ...asked, match: match.slice(1) }, store)
  }
  return failure(asked.path, 404, `Invalid URL (${asked.method} ${asked.path})`)
}

/** An error in the shape of the surface that was asked. */
export const failure = (path: string, status: number, message: string): Answer =>
  /\/messages(?:\/count_tokens)?$/.test(path) && !path.includes('/threads/')
    ? anthropicError(status, message, status === 429 ? 'rate_limit_error' : status >= 500 ? 'api_error' : 'invalid_request_error')
    : openaiError(status, message, status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error')
