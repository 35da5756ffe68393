/**
 * The dedicated operations of the data plane. The pass-through is what is not in this list.
 * `path` is relative to the base URL; `{name}` matches one segment.
 */
export interface OperationSpec {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** Whether `x-service-virtual-key` (or another stored credential) is required: specification section 4, column VK. */
  readonly virtualKey?: true
  /** The dialect in which callers of this path speak, and so the shape of our errors. */
  readonly dialect?: 'anthropic'
}

export const operations = {
  chatComplete: { method: 'POST', path: '/chat/completions' },
  promptComplete: { method: 'POST', path: '/prompts/{promptId}/completions' },
  complete: { method: 'POST', path: '/completions', virtualKey: true },
  embed: { method: 'POST', path: '/embeddings' },
  messages: { method: 'POST', path: '/messages', dialect: 'anthropic' },
  countTokens: { method: 'POST', path: '/messages/count_tokens', dialect: 'anthropic' },
  createModelResponse: { method: 'POST', path: '/responses' },
  getModelResponse: { method: 'GET', path: '/responses/{response_id}' },
  deleteModelResponse: { method: 'DELETE', path: '/responses/{response_id}' },
  listResponseInputItems: { method: 'GET', path: '/responses/{response_id}/input_items' },
  imageGenerate: { method: 'POST', path: '/images/generations' },
  imageEdit: { method: 'POST', path: '/images/edits' },
  createSpeech: { method: 'POST', path: '/audio/speech' },
  createTranscription: { method: 'POST', path: '/audio/transcriptions' },
  createTranslation: { method: 'POST', path: '/audio/translations' },
  uploadFile: { method: 'POST', path: '/files' },
  listFiles: { method: 'GET', path: '/files' },
  retrieveFile: { method: 'GET', path: '/files/{file_id}' },
  deleteFile: { method: 'DELETE', path: '/files/{file_id}' },
  retrieveFileContent: { method: 'GET', path: '/files/{file_id}/content' },
  createBatch: { method: 'POST', path: '/batches' },
  listBatches: { method: 'GET', path: '/batches', virtualKey: true },
  retrieveBatch: { method: 'GET', path: '/batches/{batch_id}' },
  cancelBatch: { method: 'POST', path: '/batches/{batch_id}/cancel', virtualKey: true },
  createFinetune: { method: 'POST', path: '/fine_tuning/jobs', virtualKey: true },
  listFinetunes: { method: 'GET', path: '/fine_tuning/jobs', virtualKey: true },
  retrieveFinetune: { method: 'GET', path: '/fine_tuning/jobs/{fine_tuning_job_id}', virtualKey: true },
  cancelFinetune: { method: 'POST', path: '/fine_tuning/jobs/{fine_tuning_job_id}/cancel' },
  listThreadMessages: { method: 'GET', path: '/threads/{thread_id}/messages', virtualKey: true },
} as const satisfies Record<string, OperationSpec>

export type Operation = keyof typeof operations
