import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const number = z.number()
const whole = number.int()
const flag = z.boolean().optional()
/** A field that no engine declares as its own goes on as a plain value. */
const plain = z.union([text, number, z.boolean()], 'Unexpected type for unspecified field')
const asked = { stream: flag, return_finish_reason: flag, return_num_input_tokens: flag, return_num_output_tokens: flag }

/** The parameters of vLLM's backend: those of its engine are one text. */
const vllm = z.object({ ...asked, exclude_input_in_output: flag, sampling_parameters: text.optional() }).catchall(plain)
const sampling = z.strictObject({
  max_tokens: whole.optional(),
  temperature: number.optional(),
  top_p: number.optional(),
  top_k: whole.optional(),
  frequency_penalty: number.optional(),
  presence_penalty: number.optional(),
  seed: whole.optional(),
  stop: z.array(text).optional(),
})

/** The inputs of TensorRT-LLM's models. */
const tensors = z
  .object({
    stream: flag,
    max_tokens: whole,
    temperature: number.optional(),
    top_p: number.optional(),
    top_k: whole.optional(),
    frequency_penalty: number.optional(),
    presence_penalty: number.optional(),
    random_seed: whole.optional(),
    stop_words: z.union([text, z.array(text)]).optional(),
    bad_words: z.union([text, z.array(text)]).optional(),
  })
  .catchall(plain)

const generate = (parameters: z.ZodType) => z.strictObject({ id: text.optional(), text_input: text, parameters })

/** The engine of a model that Triton serves here. */
export const engineOf = (url: string): 'vllm' | 'tensorrt' => (url.includes('/vllm_model/') ? 'vllm' : 'tensorrt')

/** Why Triton refuses to complete a text; null: it completes it. */
export function refusalOfTriton({ url, json: body }: Received): string | null {
  if (!/^\/v2\/models\/(?:vllm_model|ensemble)\/generate(?:_stream)?$/.test(url)) return `Request for unknown model: ${url}`
  const engine = engineOf(url)
  const read = generate(engine === 'vllm' ? vllm : tensors).safeParse(body)
  if (!read.success) return firstFault(read.error)
  const { sampling_parameters: given, stream } = Object(body['parameters']) as { sampling_parameters?: string; stream?: boolean }
  if (stream === true && !url.endsWith('_stream')) return 'generate expects model to produce exactly 1 response, use generate stream'
  if (engine === 'tensorrt') return null
  const steered = sampling.safeParse(JSON.parse(given ?? '{}'))
  return steered.success ? null : firstFault(steered.error)
}
