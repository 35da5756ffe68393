import type { StoredBatch } from './batch-store.ts'

/** Returns a batch as OpenAI answers it. */
export function toBatch(batch: StoredBatch): object {
  const { times, inputTokens, outputTokens } = batch
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: null,
    input_file_id: batch.inputFileId,
    completion_window: batch.window,
    status: batch.state,
    output_file_id: batch.outputFileId,
    error_file_id: batch.errorFileId,
    created_at: times.created,
    in_progress_at: times.inProgress,
    expires_at: times.expires,
    finalizing_at: times.finalizing,
    completed_at: times.completed,
    failed_at: null,
    expired_at: times.expired,
    cancelling_at: times.cancelling,
    cancelled_at: times.cancelled,
    request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
    usage: { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
    metadata: batch.metadata,
  }
}
