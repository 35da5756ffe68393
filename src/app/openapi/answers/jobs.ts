import { z } from 'zod'
import { count, maybe, metadata, moment, open, page, text } from './parts.ts'

const batchErrors = open({
  object: maybe(text),
  data: maybe(
    z.array(
      open({
        code: maybe(text),
        message: maybe(text),
        param: maybe(text),
        line: maybe(count).meta({ description: 'The line of the input file.' }),
      }),
    ),
  ),
})

/** A batch, as OpenAI and the providers like it answer it. */
export const batch = open({
  id: text,
  object: z.literal('batch'),
  endpoint: text.meta({ description: 'The path that the requests of the batch are for.' }),
  input_file_id: text,
  completion_window: text,
  status: z.enum(['validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled']),
  created_at: moment,
  errors: maybe(batchErrors),
  output_file_id: maybe(text).meta({ description: 'The answers of requests that succeeded.' }),
  error_file_id: maybe(text).meta({ description: 'The answers of requests that failed.' }),
  in_progress_at: maybe(moment),
  expires_at: maybe(moment),
  finalizing_at: maybe(moment),
  completed_at: maybe(moment),
  failed_at: maybe(moment),
  expired_at: maybe(moment),
  cancelling_at: maybe(moment),
  cancelled_at: maybe(moment),
  request_counts: maybe(open({ total: count, completed: count, failed: count })),
  metadata: maybe(metadata),
}).meta({ id: 'Batch', description: 'Requests of a file that a provider answers later.' })

export const batchList = page('BatchList', batch, 'Batches, newest first.')

const tracker = open({ project: maybe(text), name: maybe(text), entity: maybe(text), tags: maybe(z.array(text)) })

/** A fine-tuning job. The settings of a tracker stand under the name of its type. */
export const fineTuningJob = open({
  id: text,
  object: z.literal('fine_tuning.job'),
  created_at: moment,
  error: open({ code: maybe(text), message: maybe(text), param: maybe(text) })
    .nullable()
    .meta({ description: 'Why a job failed.' }),
  fine_tuned_model: text.nullable().meta({ description: 'Null while the job runs.' }),
  finished_at: moment.nullable().meta({ description: 'Null while the job runs.' }),
  hyperparameters: open({
    n_epochs: maybe(z.union([text, count])),
    batch_size: maybe(z.union([text, count])),
    learning_rate_multiplier: maybe(z.union([text, z.number()])),
  }),
  model: text.meta({ description: 'The base model.' }),
  organization_id: text,
  result_files: z.array(text),
  status: z.enum(['validating_files', 'queued', 'running', 'succeeded', 'failed', 'cancelled']),
  trained_tokens: count.nullable().meta({ description: 'Null while the job runs.' }),
  training_file: text,
  validation_file: text.nullable(),
  seed: count,
  integrations: maybe(z.array(open({ type: text, wandb: maybe(tracker) })).max(5)),
  estimated_finish: maybe(moment),
}).meta({ id: 'FineTuningJob', description: 'A job that trains a model further.' })

export const fineTuningJobList = page('FineTuningJobList', fineTuningJob, 'Fine-tuning jobs, newest first.')

const contentItem = open({
  type: text.meta({ description: 'Such as `text` or `image_file`.' }),
  text: maybe(open({ value: maybe(text), annotations: maybe(z.array(open({ type: text }))) })),
  image_file: maybe(open({ file_id: text, detail: maybe(text) })),
  image_url: maybe(open({ url: text, detail: maybe(text) })),
})

const threadMessage = open({
  id: text,
  object: z.literal('thread.message'),
  created_at: moment,
  thread_id: text,
  status: maybe(text).meta({ description: 'Such as `in_progress`.' }),
  incomplete_details: maybe(open({ reason: text })),
  completed_at: maybe(moment),
  incomplete_at: maybe(moment),
  role: text,
  content: z.array(contentItem),
  assistant_id: maybe(text),
  run_id: maybe(text),
  attachments: maybe(z.array(open({ file_id: maybe(text), tools: maybe(z.array(open({ type: text }))) }))),
  metadata: maybe(metadata),
}).meta({ id: 'ThreadMessage', description: 'A message of a thread.' })

const threadPage = page('ThreadMessageList', threadMessage, 'The messages of a thread.')

export const threadMessageList = threadPage
  .extend({ first_id: text.nullable(), last_id: text.nullable() })
  .meta({ id: 'ThreadMessageList', description: 'The messages of a thread.' })
