import { isFields } from '../../lib/json/fields.ts'
import type { Operation } from './operations.ts'

/** The ends of paths whose work costs when it has ended, which no answer of its own states. They are taken from the providers' own references. */
const begin: readonly RegExp[] = [
  // platform.openai.com/docs/api-reference/videos, docs.x.ai, docs.together.ai, openrouter.ai, docs.z.ai: a video is made when its request has long been answered.
  /\/videos(?:\/(?:generations|edits|extensions)|\/[\w.-]+\/remix)?$/,
  // Veo at Google; the first Sora at Azure; MiniMax; SiliconFlow; Model Studio; models of Bedrock that write into a bucket.
  /:predictLongRunning$/,
  /\/video(?:\/generations(?:\/jobs)?|\/submit|_generation|-synthesis)$/,
  /\/async-invoke$/,
  // docs.perplexity.ai/api-reference/async-chat-completions-post: the answer is read later.
  /\/async\/(?:chat\/completions|sonar)$/,
  // Batches of Google, Vertex AI, Mistral, Cohere and Fireworks, whose answers stand where no path of the gateway is.
  /:(?:batchGenerateContent|asyncBatchEmbedContent)$/,
  /\/(?:batchPredictionJobs|batch\/jobs|embed-jobs|batchInferenceJobs)$/,
  // Batches, trainings and evaluations of Bedrock, whose answers stand in a bucket of the customer's.
  /\/(?:model-invocation-job|model-customization-jobs|evaluation-jobs)$/,
  // Trainings that have no path of OpenAI's.
  /\/(?:fine-tunes|tuningJobs|tunedModels|finetuned-models|supervisedFineTuningJobs)$/,
]

/** Sessions, and credentials for them, with which the caller goes on with the provider alone: their usage does not pass Gatehouse. */
const sessions: readonly RegExp[] = [
  // platform.openai.com/docs/api-reference/realtime, also at Azure and xAI; a call by telephone begins when it is accepted.
  /\/realtime(?:\/[\w-]+)?\/(?:calls(?:\/[\w.-]+\/accept)?|client_secrets|sessions|transcription_sessions)$/,
  // Azure's paths of before, ChatKit, Google's Live API, Deepgram, ElevenLabs.
  /\/(?:realtimeapi\/sessions|realtimertc|chatkit\/sessions|auth_tokens|auth\/grant)$/,
  /\/single-use-token\/[\w.-]+$/,
]

/** The same for credentials that are read. */
const read = /\/convai\/conversation\/(?:get-signed-url|get_signed_url|token)$/

/** Returns true if a path of a provider's own begins work that costs when it has ended, or a session whose usage does not pass Gatehouse. */
export const isJob = (path: string): boolean => begin.some((one) => one.test(path)) || sessions.some((one) => one.test(path))

/** Returns true if the answer at a path is a credential for such a session. */
export const isReadSession = (path: string): boolean => read.test(path)

/** A request that may ask for an answer later. */
interface JobQuery {
  readonly json: unknown
  /** Null: unknown. */
  readonly operation: Operation | null
  /** A row of the catalogue. */
  readonly provider: string
}

/**
 * Returns true for a response that is to run in the background, or a chat of Grok's that is deferred: it goes on when its request has been answered,
 * and when its caller has left. Elsewhere such a field has no meaning.
 */
export function asksBackground({ json, operation, provider }: JobQuery): boolean {
  if (!isFields(json)) return false
  if (operation === 'createModelResponse') return json['background'] === true
  return operation === 'chatComplete' && provider === 'x-ai' && json['deferred'] === true
}
