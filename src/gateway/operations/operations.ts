import type { DialectId } from '../dialects/dialect.ts'

/** The dedicated operations of the data plane. All others are passed through. `path` is relative to the base URL; `{name}` matches one segment. */
export interface OperationSpec {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** True when `x-service-virtual-key` (or another stored credential) is required: specification section 4, column VK. */
  readonly virtualKey?: true
  /** The dialect of its requests and answers. */
  readonly dialect: DialectId
  /** Absent: no other format has the like of it. */
  readonly task?: Task
  /** True if its body is a JSON object. */
  readonly json?: true
  /** True if it runs a model, which costs, and leaves no state behind: asked twice, it answers twice. */
  readonly leavesNothing?: true
  /** True if its requests go on as a WebSocket. */
  readonly socket?: true
  /** True if it begins work that costs when it has ended, which no answer of its own states. */
  readonly beginsJob?: true
  /** Names the requests that may get its answer again: `equal` ones, or `similar` ones too. Absent: none. */
  readonly answersAgain?: 'equal' | 'similar'
}

/** The work that operations of several formats do: a provider that has not the one may have the other. */
export type Task =
  | 'conversation'
  | 'completion'
  | 'embedding'
  | 'token-count'
  | 'image'
  | 'image-edit'
  | 'image-variation'
  | 'moderation'
  | 'speech'
  | 'transcription'
  | 'translation'
  | 'rerank'

/** The tasks that are done as conversations: a prompt is the one turn of its own. */
export const conversations: ReadonlySet<Task> = new Set(['conversation', 'completion'])

export const operations = {
  chatComplete: {
    method: 'POST',
    path: '/chat/completions',
    dialect: 'openai-chat',
    task: 'conversation',
    json: true,
    leavesNothing: true,
    answersAgain: 'similar',
  },
  promptComplete: {
    method: 'POST',
    path: '/prompts/{promptId}/completions',
    dialect: 'openai-chat',
    task: 'conversation',
    json: true,
    leavesNothing: true,
  },
  complete: {
    method: 'POST',
    path: '/completions',
    dialect: 'completions',
    task: 'completion',
    virtualKey: true,
    json: true,
    leavesNothing: true,
    answersAgain: 'equal',
  },
  embed: {
    method: 'POST',
    path: '/embeddings',
    dialect: 'embeddings',
    task: 'embedding',
    json: true,
    leavesNothing: true,
    answersAgain: 'equal',
  },
  messages: {
    method: 'POST',
    path: '/messages',
    dialect: 'anthropic',
    task: 'conversation',
    json: true,
    leavesNothing: true,
    answersAgain: 'similar',
  },
  countTokens: {
    method: 'POST',
    path: '/messages/count_tokens',
    dialect: 'anthropic',
    task: 'token-count',
    json: true,
    leavesNothing: true,
    answersAgain: 'equal',
  },
  createMessageBatch: { method: 'POST', path: '/messages/batches', dialect: 'anthropic', json: true, beginsJob: true },
  createModelResponse: {
    method: 'POST',
    path: '/responses',
    dialect: 'openai-responses',
    task: 'conversation',
    json: true,
    leavesNothing: true,
    answersAgain: 'equal',
  },
  connectResponses: { method: 'GET', path: '/responses', dialect: 'openai-responses', socket: true },
  connectRealtime: { method: 'GET', path: '/realtime', dialect: 'openai-platform', socket: true },
  getModelResponse: { method: 'GET', path: '/responses/{response_id}', dialect: 'openai-responses' },
  cancelModelResponse: { method: 'POST', path: '/responses/{response_id}/cancel', dialect: 'openai-responses' },
  countResponseTokens: {
    method: 'POST',
    path: '/responses/input_tokens',
    dialect: 'openai-responses',
    task: 'token-count',
    json: true,
    leavesNothing: true,
    answersAgain: 'equal',
  },
  compactResponse: { method: 'POST', path: '/responses/compact', dialect: 'openai-responses', json: true, leavesNothing: true },
  deleteModelResponse: { method: 'DELETE', path: '/responses/{response_id}', dialect: 'openai-responses' },
  listResponseInputItems: { method: 'GET', path: '/responses/{response_id}/input_items', dialect: 'openai-responses' },
  imageGenerate: {
    method: 'POST',
    path: '/images/generations',
    dialect: 'images',
    task: 'image',
    json: true,
    leavesNothing: true,
    answersAgain: 'equal',
  },
  imageEdit: { method: 'POST', path: '/images/edits', dialect: 'images', task: 'image-edit', leavesNothing: true },
  imageVary: { method: 'POST', path: '/images/variations', dialect: 'images', task: 'image-variation', leavesNothing: true },
  moderate: {
    method: 'POST',
    path: '/moderations',
    dialect: 'moderations',
    task: 'moderation',
    json: true,
    leavesNothing: true,
    answersAgain: 'equal',
  },
  createSpeech: { method: 'POST', path: '/audio/speech', dialect: 'audio', task: 'speech', json: true, leavesNothing: true },
  createTranscription: { method: 'POST', path: '/audio/transcriptions', dialect: 'audio', task: 'transcription', leavesNothing: true },
  createTranslation: { method: 'POST', path: '/audio/translations', dialect: 'audio', task: 'translation', leavesNothing: true },
  uploadFile: { method: 'POST', path: '/files', dialect: 'openai-platform' },
  listFiles: { method: 'GET', path: '/files', dialect: 'openai-platform' },
  retrieveFile: { method: 'GET', path: '/files/{file_id}', dialect: 'openai-platform' },
  deleteFile: { method: 'DELETE', path: '/files/{file_id}', dialect: 'openai-platform' },
  retrieveFileContent: { method: 'GET', path: '/files/{file_id}/content', dialect: 'openai-platform' },
  createBatch: { method: 'POST', path: '/batches', dialect: 'openai-platform', json: true, beginsJob: true },
  listBatches: { method: 'GET', path: '/batches', dialect: 'openai-platform', virtualKey: true },
  retrieveBatch: { method: 'GET', path: '/batches/{batch_id}', dialect: 'openai-platform' },
  cancelBatch: { method: 'POST', path: '/batches/{batch_id}/cancel', dialect: 'openai-platform', virtualKey: true },
  createFinetune: { method: 'POST', path: '/fine_tuning/jobs', dialect: 'openai-platform', virtualKey: true, json: true, beginsJob: true },
  listFinetunes: { method: 'GET', path: '/fine_tuning/jobs', dialect: 'openai-platform', virtualKey: true },
  retrieveFinetune: { method: 'GET', path: '/fine_tuning/jobs/{fine_tuning_job_id}', dialect: 'openai-platform', virtualKey: true },
  cancelFinetune: { method: 'POST', path: '/fine_tuning/jobs/{fine_tuning_job_id}/cancel', dialect: 'openai-platform' },
  listThreadMessages: { method: 'GET', path: '/threads/{thread_id}/messages', dialect: 'openai-platform', virtualKey: true },
} as const satisfies Record<string, OperationSpec>

/** The operations that Gatehouse answers itself as long as the request names no provider; with one they are passed through. */
export const modelOperations = {
  listModels: { method: 'GET', path: '/models' },
  getModel: { method: 'GET', path: '/models/{model}' },
} as const satisfies Record<string, Pick<OperationSpec, 'method' | 'path'>>

export type Operation = keyof typeof operations
