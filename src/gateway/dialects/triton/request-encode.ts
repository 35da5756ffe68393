import { refuseBeyondText } from '../beyond-text.ts'
import { type EncodeContext, type Encoded, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendBag } from '../leftovers.ts'
import type { NeutralRequest, RequestField } from '../neutral/request.ts'

/** Steering that neither of its engines is told. */
const dropped: readonly RequestField[] = ['logitBias', 'user', 'metadata', 'tier']

/** Fields that ask Triton to tell of an answer: docs.nvidia.com, vllm_backend, additional outputs. */
const told = { exclude_input_in_output: true, return_finish_reason: true, return_num_input_tokens: true, return_num_output_tokens: true }

/**
 * Writes a text that is completed: the generate extension of Triton, docs.nvidia.com. Its engines name what steers otherwise, and pass by what
 * is not theirs: TensorRT-LLM reads the parameters, vLLM those of the text in them.
 */
export function encodeRequest(request: NeutralRequest, { loss }: EncodeContext): Encoded {
  const own = spendBag(request, 'triton', loss)
  refuseBeyondText(request, dropped, loss)
  const { stop, seed } = request
  const steering = compact({
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
  })
  const ofVllm = compact({ ...steering, seed, stop: stop.length === 0 ? null : stop })
  const text = request.turns.flatMap(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : ''))).join('')
  const parameters = compact({
    stream: request.stream,
    ...told,
    ...steering,
    random_seed: seed,
    stop_words: stop.length > 1 ? stop : (stop[0] ?? null),
    sampling_parameters: JSON.stringify(ofVllm),
    ...own,
  })
  return { body: { text_input: text, parameters }, headers: [], memory: noMemory }
}
