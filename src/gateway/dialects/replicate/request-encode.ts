import { refuseBeyondText } from '../beyond-text.ts'
import { type EncodeContext, type EncodedRequest, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { effortOf } from '../effort.ts'
import { spendBag, spendPartBag } from '../leftovers.ts'
import { urlOfMedia } from '../media.ts'
import type { Loss } from '../neutral/loss.ts'
import type { ImagePart, Part } from '../neutral/parts.ts'
import type { NeutralRequest, RequestField, Turn } from '../neutral/request.ts'
import { inputNames } from './input.ts'
import { versionFields } from './version.ts'

/** Writes a prediction of a model that writes: replicate.com/docs/reference/http. Its prompt is one text. */
export function encodeRequest(request: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model } = context
  const own = spendBag(request, 'replicate', loss)
  refuseForeign(request, loss)
  const names = inputNames(model)
  const images: string[] = []
  const prompt = writePrompt(request.turns, { loss, images })
  const [field, isList] = names.images
  if (images.length > 1 && !isList) loss.refuseAt('messages', 'holds several images, and this model takes one')
  const input = compact({
    prompt,
    [names.system]: request.system.length === 0 ? null : textsOf(request.system, { loss, images }).join('\n\n'),
    [names.maxTokens]: request.maxTokens,
    [field]: images.length === 0 ? null : isList ? images : images[0],
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    stop_sequences: writeStop(request.stop, loss),
    ...own,
  })
  const body = { ...versionFields(model), input, ...(request.stream && { stream: true }) }
  return { body, headers: ['prefer', 'wait=10'], memory: noMemory }
}

/** Steering that predictions have no field for. */
const dropped: readonly RequestField[] = ['logitBias', 'verbosity', 'user', 'metadata', 'tier', 'cache', 'topLogprobs']

function refuseForeign(request: NeutralRequest, loss: Loss): void {
  const [tool] = request.tools
  if (tool !== undefined) loss.refuseAt('tools', 'asks for tools, which models are not given there')
  if (request.format !== null) loss.refuse('format', 'asks for a form of answers to which this provider holds no model')
  refuseBeyondText(request, dropped, loss)
  if (request.reasoning !== null && effortOf(request.reasoning, request.maxTokens) !== 'none') loss.drop('reasoning')
}

/** Sequences stand in one text, with commas between them. */
function writeStop(stop: readonly string[], loss: Loss): string | null {
  const plain = stop.filter((one) => !one.includes(','))
  if (plain.length < stop.length) loss.drop('stop', 'holds a comma, which parts sequences there')
  return plain.length === 0 ? null : plain.join(',')
}

interface WriteState {
  readonly loss: Loss
  /** The images of all turns, which stand beside the prompt. */
  readonly images: string[]
}

const speakers: Readonly<Record<Turn['role'], string>> = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool' }

/** One question is the prompt; a conversation is written as one text, and ends where the model goes on. */
function writePrompt(turns: readonly Turn[], writing: WriteState): string {
  const said = turns.map(({ role, parts }) => ({ role, text: textsOf(parts, writing).join('\n\n') }))
  const [only] = said
  if (said.length === 1 && only?.role === 'user') return only.text
  const lines = said.filter(({ text }) => text !== '').map(({ role, text }) => `${speakers[role]}: ${text}`)
  return [...lines, 'Assistant:'].join('\n\n')
}

function textsOf(parts: readonly Part[], { loss, images }: WriteState): readonly string[] {
  return parts.flatMap((part) => {
    if (part.cache !== null) loss.dropAt('cache_control')
    spendPartBag(part, 'replicate', loss)
    if (part.kind === 'text' || part.kind === 'refusal') return part.text
    if (part.kind === 'image') images.push(writeImage(part, loss))
    else if (part.kind === 'reasoning' || part.kind === 'opaque') loss.dropAt(part.at)
    else loss.refuseAt(part.at, `is ${part.kind}, which this provider does not take`)
    return []
  })
}

function writeImage({ source, detail, at }: ImagePart, loss: Loss): string {
  if (detail !== null && detail !== 'auto') loss.dropAt(`${at}.detail`)
  return urlOfMedia(source) ?? loss.refuseAt(at, 'names a file that only its own vendor has')
}
