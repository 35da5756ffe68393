import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { encodeRequest } from '../cohere/request-encode.ts'
import type { EncodeContext, EncodedRequest } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendBag } from '../leftovers.ts'
import type { NeutralRequest } from '../neutral/request.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { servingFields } from './serving-mode.ts'

/** The fields of Cohere's chat that have another name, and the same values. */
const names: Readonly<Record<string, string>> = {
  documents: 'documents',
  max_tokens: 'maxTokens',
  temperature: 'temperature',
  seed: 'seed',
  stop_sequences: 'stopSequences',
  p: 'topP',
  k: 'topK',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  logprobs: 'isLogProbsEnabled',
  tool_choice: 'toolsChoice',
  strict_tools: 'isStrictToolsEnabled',
  stream: 'isStream',
}

/** docs.oracle.com/iaas/api: CohereChatRequestV2, which is Cohere's second version in other words. */
export function encodeSecondCohere(request: NeutralRequest, context: EncodeContext): EncodedRequest {
  const own = spendBag(request, 'oracle', context.loss)
  const encoded = encodeRequest({ ...request, bag: {}, unplaced: [] }, context)
  const { body } = encoded
  const renamed = Object.entries(body).flatMap(([name, value]) => (Object.hasOwn(names, name) ? [[names[name] ?? name, value]] : []))
  const thinking = saidFields(body, 'thinking')
  const tools = saidList(body, 'tools')
  const format = saidFields(body, 'response_format')
  const chatRequest = compact({
    apiFormat: 'COHEREV2',
    messages: saidList(body, 'messages').map(writeMessage),
    ...Object.fromEntries(renamed),
    tools: tools.length === 0 ? null : tools.map(typed),
    responseFormat: format === null ? null : compact({ type: 'JSON_OBJECT', schema: format['json_schema'] }),
    thinking: thinking === null ? null : compact({ type: String(thinking['type']).toUpperCase(), tokenBudget: thinking['token_budget'] }),
    streamOptions: request.stream ? { isIncludeUsage: true } : null,
    ...own,
  })
  return { ...encoded, body: { ...servingFields(context.model, context.traits), chatRequest } }
}

/** Types are in capitals there. */
const typed = ({ type: _lower, ...rest }: Fields): Fields => ({ ...rest, type: 'FUNCTION' })

function writeMessage(message: Fields): Fields {
  const { content } = message
  const calls = saidList(message, 'tool_calls')
  const parts: readonly unknown[] = Array.isArray(content) ? content : typeof content === 'string' ? [{ type: 'text', text: content }] : []
  return compact({
    role: saidText(message, 'role')?.toUpperCase(),
    content: parts.filter((part) => isFields(part)).map(writePart),
    toolPlan: message['tool_plan'],
    toolCalls: calls.length === 0 ? null : calls.map(typed),
    toolCallId: message['tool_call_id'],
  })
}

function writePart(part: Fields): Fields {
  const image = saidFields(part, 'image_url')
  if (image === null) return { type: 'TEXT', text: part['text'] }
  return { type: 'IMAGE_URL', imageUrl: compact({ url: image['url'], detail: saidText(image, 'detail')?.toUpperCase() ?? null }) }
}
