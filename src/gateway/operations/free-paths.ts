/** A path of plain characters alone: no character that a server may cut off or read otherwise is in these. */
const plain = String.raw`^[\w/.:@-]*`
const id = String.raw`[\w.:@-]+`

const pattern = (end: string): RegExp => new RegExp(`${plain}${end}$`)

/** The ends of paths by which earlier results are changed or read by POST, whose answers may repeat their usage. */
const changes: readonly RegExp[] = [
  // Responses, batches, trainings, and runs of threads, wherever they are.
  String.raw`/(?:responses|batches|jobs|fine-tunes|predictions|runs)/${id}/(?:cancel|pause|resume|stop)`,
  String.raw`/(?:batch/jobs|model-invocation-job|model-customization-jobs)/${id}/(?:cancel|stop)`,
  // Operations and jobs of Google and Vertex AI; Veo at Vertex AI is asked for by POST.
  String.raw`/(?:operations|batches|batchPredictionJobs|tuningJobs)/[\w.@-]+:(?:cancel|wait)`,
  String.raw`:fetchPredictOperation`,
  // The metadata of stored chats and of runs.
  String.raw`/chat/completions/chatcmpl-[\w-]+`,
  String.raw`/threads/[\w-]+/runs/[\w-]+`,
].map(pattern)

/**
 * The ends of paths that store objects which run no model and that no price list has: files, their parts, and the definitions of later runs. Other
 * requests by POST, PUT or PATCH may cost.
 */
const kept: readonly RegExp[] = [
  String.raw`/files`,
  String.raw`/uploads(?:/${id}/(?:parts|complete|cancel))?`,
  String.raw`/assistants(?:/asst_[\w-]+)?`,
  String.raw`/threads(?:/thread_[\w-]+)?`,
  String.raw`/threads/[\w-]+/messages(?:/msg_[\w-]+)?`,
  String.raw`/conversations(?:/conv_[\w-]+(?:/items)?)?`,
  String.raw`/evals(?:/eval_[\w-]+)?`,
].map(pattern)

/** The ends of paths by which tokens are counted, which runs no model. */
const counts: readonly RegExp[] = [
  String.raw`/count[-_]tokens`,
  String.raw`/responses/input_tokens`,
  String.raw`:(?:countTokens|computeTokens)`,
  String.raw`/models/count-tokens(?:@[\w-]+)?:rawPredict`,
  String.raw`/(?:tokenize|detokenize|tokenize-text|tokenizers/estimate-token-count)`,
].map(pattern)

const matches = (patterns: readonly RegExp[], path: string): boolean => patterns.some((one) => one.test(path))

const conversation = pattern(String.raw`/conversations(?:/${id})?`)

/** Returns true if a request by POST only changes, reads or stores objects, so that it is free. */
export const isKeeping = (path: string): boolean => matches(changes, path) || matches(kept, path)

/** Returns true for a path at which OpenAI stores conversations, and at which Mistral runs a model. */
export const isConversation = (path: string): boolean => conversation.test(path)

/** Returns true if a request by POST counts tokens. */
export const isCount = (path: string): boolean => matches(counts, path)
