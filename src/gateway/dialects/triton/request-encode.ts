import type { Fields } from '../../../lib/json/fields.ts'
import { refuseBeyondText } from '../beyond-text.ts'
import { type EncodeContext, type EncodedRequest, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendBag } from '../leftovers.ts'
import type { NeutralRequest, RequestField } from '../neutral/request.ts'

/** Steering without a field in either of its engines. */
const dropped: readonly RequestField[] = ['logitBias', 'user', 'metadata', 'tier']

/** Writes a text that is completed: the generate extension of Triton, docs.nvidia.com. The form names the engine, which has its own parameters. */
export function encodeRequest(request: NeutralRequest, { loss, traits }: EncodeContext): EncodedRequest {
  const own = spendBag(request, 'triton', loss)
  refuseBeyondText(request, dropped, loss)
  const text = request.turns.flatMap(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : ''))).join('')
  const parameters = {
    stream: request.stream,
    exclude_input_in_output: true,
    ...(traits.form === 'vllm' ? forVllm(request) : forTensors(request)),
    ...own,
  }
  return { body: { text_input: text, parameters }, headers: [], memory: noMemory }
}

/** The steering that both engines have under the same names. */
const shared = ({ maxTokens, temperature, topP, topK, frequencyPenalty, presencePenalty }: NeutralRequest) => ({
  max_tokens: maxTokens,
  temperature,
  top_p: topP,
  top_k: topK,
  frequency_penalty: frequencyPenalty,
  presence_penalty: presencePenalty,
})

/** docs.nvidia.com, vllm_backend: all steering is one text, and additional outputs come if they are asked for. */
const forVllm = (request: NeutralRequest): Fields => ({
  return_finish_reason: true,
  return_num_input_tokens: true,
  return_num_output_tokens: true,
  sampling_parameters: JSON.stringify(compact({ ...shared(request), seed: request.seed, stop: stopsOf(request) })),
})

/** docs.nvidia.com, tensorrtllm_backend, model_config: each is a tensor of the model, a list too. */
const forTensors = (request: NeutralRequest): Fields =>
  compact({ ...shared(request), random_seed: request.seed, stop_words: stopsOf(request) })

const stopsOf = ({ stop }: NeutralRequest): readonly string[] | null => (stop.length === 0 ? null : stop)
