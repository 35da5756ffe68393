import type { Answer, Asked } from './answer.ts'
import { bytesAnswer, jsonAnswer, newId, openaiError } from './answer.ts'
import { readMultipart } from './multipart.ts'

/** Resources created in this emulator, by kind and id, in the order of creation. */
export interface Store {
  put(kind: string, id: string, value: unknown): void
  get(kind: string, id: string): unknown
  drop(kind: string, id: string): boolean
  all(kind: string): readonly unknown[]
}

/** An empty store. */
export function createStore(): Store {
  const kinds = new Map<string, Map<string, unknown>>()
  const of = (kind: string) => kinds.get(kind) ?? kinds.set(kind, new Map()).get(kind) ?? new Map<string, unknown>()
  return {
    put: (kind, id, value) => void of(kind).set(id, value),
    get: (kind, id) => of(kind).get(id),
    drop: (kind, id) => of(kind).delete(id),
    all: (kind) => [...of(kind).values()].toReversed(),
  }
}

const created = 1_760_000_000
const missing = (asked: Asked): Answer => openaiError(404, `No such object: ${asked.match[0]}`)

/** GET of one stored thing. */
export const getOne =
  (kind: string) =>
  (asked: Asked, store: Store): Answer => {
    const found = store.get(kind, asked.match[0] ?? '')
    return found === undefined ? missing(asked) : jsonAnswer(found)
  }

/** GET of all stored things, newest first, with `limit` and `after`. */
export const list =
  (kind: string) =>
  (asked: Asked, store: Store): Answer => {
    const all = store.all(kind) as { id: string }[]
    const after = asked.query.get('after')
    const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
    const data = all.slice(start, start + Number(asked.query.get('limit') ?? 20))
    return jsonAnswer({
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: start + data.length < all.length,
    })
  }

/** POST /files, multipart. */
export function uploadFile(asked: Asked, store: Store): Answer {
  const parts = readMultipart(String(asked.headers['content-type'] ?? ''), asked.body)
  const file = parts.find(({ filename }) => filename !== null)
  if (file === undefined) return openaiError(400, "'file' is a required property")
  const purpose = parts.find(({ name }) => name === 'purpose')?.content.toString() ?? 'batch'
  const id = newId('file-')
  const value = {
    id,
    object: 'file',
    bytes: file.content.length,
    created_at: created,
    filename: file.filename,
    purpose,
    status: 'processed',
    status_details: null,
  }
  store.put('files', id, value)
  store.put('contents', id, file.content)
  return jsonAnswer(value)
}

/** GET /files/{id}/content. */
export function fileContent(asked: Asked, store: Store): Answer {
  const content = store.get('contents', asked.match[0] ?? '')
  return Buffer.isBuffer(content) ? bytesAnswer(content, 'application/octet-stream') : missing(asked)
}

/** DELETE /files/{id}. */
export function deleteFile(asked: Asked, store: Store): Answer {
  const id = asked.match[0] ?? ''
  store.drop('contents', id)
  return store.drop('files', id) ? jsonAnswer({ id, object: 'file', deleted: true }) : missing(asked)
}

/** POST /batches. */
export function createBatch({ json }: Asked, store: Store): Answer {
  const id = newId('batch_')
  const value = {
    id,
    object: 'batch',
    endpoint: json['endpoint'],
    errors: null,
    input_file_id: json['input_file_id'],
    completion_window: json['completion_window'],
    status: 'validating',
    created_at: created,
    request_counts: { total: 0, completed: 0, failed: 0 },
    metadata: json['metadata'] ?? null,
  }
  store.put('batches', id, value)
  return jsonAnswer(value)
}

/** POST /fine_tuning/jobs. */
export function createFineTune({ json }: Asked, store: Store): Answer {
  const id = newId('ftjob-')
  const value = {
    id,
    object: 'fine_tuning.job',
    created_at: created,
    model: json['model'],
    training_file: json['training_file'],
    validation_file: json['validation_file'] ?? null,
    status: 'queued',
    hyperparameters: json['hyperparameters'] ?? { n_epochs: 'auto' },
    seed: json['seed'] ?? 0,
    result_files: [],
    trained_tokens: null,
    fine_tuned_model: null,
    organization_id: 'org-emulated',
    error: null,
    finished_at: null,
  }
  store.put('fine-tunes', id, value)
  return jsonAnswer(value)
}

/** POST .../cancel: the same thing with another status. */
export const cancel =
  (kind: string, status: string) =>
  (asked: Asked, store: Store): Answer => {
    const id = asked.match[0] ?? ''
    const found = store.get(kind, id)
    if (typeof found !== 'object' || found === null) return missing(asked)
    const value = { ...found, status, cancelling_at: created }
    store.put(kind, id, value)
    return jsonAnswer(value)
  }

/** GET /threads/{id}/messages. */
export function threadMessages(asked: Asked): Answer {
  const count = Math.min(Number(asked.query.get('limit') ?? 20), 2)
  const data = Array.from({ length: count }, (_, index) => ({
    id: `msg_${index}`,
    object: 'thread.message',
    created_at: created - index,
    thread_id: asked.match[0],
    role: index === 0 ? 'assistant' : 'user',
    content: [{ type: 'text', text: { value: 'hi', annotations: [] } }],
    assistant_id: null,
    run_id: null,
    attachments: [],
    metadata: {},
  }))
  return jsonAnswer({ object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false })
}

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** POST /images/*: one pixel, inline. */
export const images = (): Answer =>
  jsonAnswer({ created, data: [{ b64_json: png.toString('base64') }], usage: { input_tokens: 5, output_tokens: 9, total_tokens: 14 } })

/** POST /moderations: no text is bad. */
export const moderations = (): Answer =>
  jsonAnswer({
    id: 'modr-1',
    model: 'omni-moderation-latest',
    results: [{ flagged: false, categories: { hate: false, violence: false }, category_scores: { hate: 0.01, violence: 0.02 } }],
  })

/** POST /audio/speech: 4096 bytes that are not UTF-8. */
export const speech = (): Answer => bytesAnswer(Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 37) % 256)), 'audio/mpeg')

/** POST /audio/transcriptions and /audio/translations, multipart. */
export function transcription(asked: Asked): Answer {
  const file = readMultipart(String(asked.headers['content-type'] ?? ''), asked.body).find(({ filename }) => filename !== null)
  if (file === undefined) return openaiError(400, "'file' is a required property")
  return jsonAnswer({
    text: `${file.content.length} bytes of ${file.filename}`,
    usage: { type: 'tokens', input_tokens: 5, output_tokens: 3, total_tokens: 8 },
  })
}

/** GET /models. */
export const models = (): Answer =>
  jsonAnswer({
    object: 'list',
    data: ['emulated-model', 'emulated-small'].map((id) => ({ id, object: 'model', created, owned_by: 'emulator' })),
  })
