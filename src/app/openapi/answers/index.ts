import { z } from 'zod'
import type { Operation } from '../../../gateway/ports/operations.ts'
import { chatRequest } from '../../../gateway/ports/prompts.ts'
import { chatCompletion, embeddings, textCompletion } from './completions.ts'
import { batch, batchList, fineTuningJob, fineTuningJobList, threadMessageList } from './jobs.ts'
import { open, text } from './parts.ts'
import { modelResponse } from './responses.ts'

/** The answers of operations as their format has them. No answer is checked against these shapes: a provider's answer goes to the client as it is. */
export const answerShapes: Readonly<Partial<Record<Operation, z.ZodType>>> = {
  chatComplete: chatCompletion,
  promptComplete: chatCompletion,
  complete: textCompletion,
  embed: embeddings,
  createModelResponse: modelResponse,
  getModelResponse: modelResponse,
  cancelModelResponse: modelResponse,
  createBatch: batch,
  retrieveBatch: batch,
  cancelBatch: batch,
  listBatches: batchList,
  createFinetune: fineTuningJob,
  retrieveFinetune: fineTuningJob,
  cancelFinetune: fineTuningJob,
  listFinetunes: fineTuningJobList,
  listThreadMessages: threadMessageList,
}

/** The bodies of operations whose fields the provider alone judges. */
export const bodyShapes: Readonly<Partial<Record<Operation, z.ZodType>>> = {
  chatComplete: chatRequest,
  embed: open({ model: text, input: z.union([text, z.array(z.unknown())]) }),
}
