import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, EncodeContext, ProviderCodec } from '../codec.ts'
import { readError } from '../error-reading.ts'
import type { Loss } from '../neutral/loss.ts'
import type { NeutralRequest } from '../neutral/request.ts'
import { chatLike, type SeenCalls } from '../openai-chat/like.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'

/** The fields that a chat of Workers AI's own has under the names of OpenAI's. */
const kept: ReadonlySet<string> = new Set([
  'messages',
  'max_tokens',
  'temperature',
  'top_p',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'stream',
])
/** Fields without effect there: the path names the model, and counts come unasked. */
const silent: ReadonlySet<string> = new Set(['model', 'stream_options', 'n', 'logprobs'])

/** Returns true for a value that is the default there: responses are not stored. */
const isSilent = (name: string, value: unknown): boolean => silent.has(name) || (name === 'store' && value === false)

/** Writes a chat: developers.cloudflare.com/workers-ai/models, the schema of text generation. */
function write(body: Fields, request: NeutralRequest, { loss }: EncodeContext): Fields {
  const { topK, candidates } = request
  refuseMedia(request, loss)
  if ((candidates ?? 1) > 1) loss.refuse('candidates', 'asks for several answers, and this provider gives one')
  if (body['logprobs'] === true) loss.refuse('logprobs', 'asks for values that this provider does not return')
  const written: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    if (kept.has(name)) written[name] = value
    else if (name === 'tools') written[name] = saidList(body, name).map((tool) => withoutStrict(tool, loss))
    else if (name === 'response_format') written[name] = formatOf(value)
    else if (name === 'tool_choice') noteChoice(value, loss)
    else if (!isSilent(name, value)) loss.dropAt(name)
  }
  return topK === null ? written : { ...written, top_k: topK }
}

/** Messages hold texts, and images as their bytes. */
function refuseMedia({ turns }: NeutralRequest, loss: Loss): void {
  for (const { parts } of turns)
    for (const { kind, at, ...part } of parts) {
      if (kind === 'file' || kind === 'audio' || kind === 'video') loss.refuseAt(at, `is ${kind}, which this provider does not take`)
      if (kind === 'image' && 'source' in part && part.source.kind === 'url')
        loss.refuseAt(at, 'must be a data URL: this provider opens no addresses')
    }
}

function withoutStrict({ function: about, ...tool }: Fields, loss: Loss): Fields {
  const { strict, ...rest } = isFields(about) ? about : {}
  if (strict === true) loss.dropAt('tools.strict')
  return { ...tool, function: rest }
}

/** A schema stands there as it is, without a name. */
function formatOf(format: unknown): unknown {
  const named = isFields(format) ? saidFields(format, 'json_schema') : null
  return named === null ? format : { type: 'json_schema', json_schema: named['schema'] }
}

function noteChoice(choice: unknown, loss: Loss): void {
  if (choice !== 'auto') loss.drop('toolChoice', 'cannot be demanded or forbidden there')
}

/** Reads a whole answer, which is wrapped, or an event of a stream, which is not. It has no reason for the end: counts and calls show it. */
function read(json: Fields, context: AnswerContext, seen: SeenCalls): Fields | null {
  if (json['success'] === false) return { error: errorOf(json) }
  const result = saidFields(json, 'result') ?? json
  const usage = saidFields(result, 'usage')
  const calls = saidList(result, 'tool_calls').map((call) => callOf(call, seen))
  const said = result['response'] ?? null
  if (said === null && usage === null && calls.length === 0) return null
  const isWhole = result !== json
  return {
    choices: [
      {
        index: 0,
        delta: { content: said === null || typeof said === 'string' ? said : JSON.stringify(said), tool_calls: calls },
        ...((isWhole || usage !== null) && { finish_reason: finishOf(usage, context) }),
      },
    ],
    ...(usage !== null && { usage }),
  }
}

const errorOf = (json: Fields): Fields => {
  const [first] = saidList(json, 'errors')
  return { message: saidText(first ?? {}, 'message') ?? 'The provider gave no reason.' }
}

/** Calls come whole, and mostly without ids. */
function callOf(call: Fields, seen: SeenCalls): Fields {
  const about = saidFields(call, 'function') ?? call
  seen.count += 1
  return {
    index: seen.count - 1,
    ...(typeof call['id'] === 'string' && { id: call['id'] }),
    function: { name: about['name'], arguments: argumentsText(about['arguments']) },
  }
}

/** Without a word for it an answer that used all of its tokens was cut. */
function finishOf(usage: Fields | null, { request: { maxTokens } }: AnswerContext): string {
  const used = usage?.['completion_tokens']
  return maxTokens !== null && typeof used === 'number' && used === maxTokens ? 'length' : 'stop'
}

/** Workers AI's own way to run a model that writes. */
export const workersCodec: ProviderCodec = chatLike({ id: 'workers-ai', write, read, error: { decode: readError } })
