import { parseExact } from '../../../lib/json/exact-json.ts'
import type { AnswerContext } from '../codec.ts'
import type { AnswerBlock, NeutralAnswer } from '../neutral/answer.ts'
import { finishOf } from '../neutral/finish.ts'
import { withSignaturesApart } from '../neutral/signed-calls.ts'
import { hashedId } from '../tool-calls.ts'
import { mediaText, signatureText, writeStart } from './blocks-encode.ts'
import { writeCitation } from './citations.ts'
import { writeCounts, writeTier } from './counts.ts'
import { withRefusal, writeFinish } from './finish.ts'

export const madeId = (requestId: string): string => `msg_${hashedId(requestId, 24)}`

/** Writes a whole message: the first of several answers. */
export function encodeAnswer({ id, model, choices, usage, tier }: NeutralAnswer, context: AnswerContext): object {
  const [choice] = choices
  const finish = withRefusal(choice?.finish ?? finishOf('stop'), choice?.blocks.some(({ block }) => block.kind === 'refusal') === true)
  return {
    id: id ?? madeId(context.requestId),
    type: 'message',
    role: 'assistant',
    model: model ?? context.model,
    content: withSignaturesApart(choice?.blocks ?? []).flatMap((block) => writeBlock(block)),
    ...writeFinish(finish, context.request.stop),
    stop_details: finish.reason === 'content-filter' ? { type: 'refusal', category: null, explanation: finish.explanation } : null,
    container: null,
    usage: { ...writeCounts(usage), service_tier: writeTier(tier) },
  }
}

function writeBlock({ block, text, citations, end }: AnswerBlock): readonly object[] {
  if (block.kind === 'tool-call') return [{ type: 'tool_use', id: block.id, name: block.name, input: inputOf(text) }]
  if (block.kind === 'reasoning')
    return end.redacted
      ? [{ type: 'redacted_thinking', data: signatureText(end) }]
      : [{ type: 'thinking', thinking: text, signature: signatureText(end) }]
  const start = writeStart(block)
  if (start === null || block.kind === 'opaque') return start === null ? [] : [start]
  const said = block.kind === 'media' ? mediaText(block) : text
  const notes = citations.map((citation) => writeCitation(citation))
  return said === '' && notes.length === 0 ? [] : [{ type: 'text', text: said, citations: notes.length === 0 ? null : notes }]
}

/** Returns the arguments of a call; broken ones as a text, so that the client sees the model's own. */
function inputOf(text: string): unknown {
  try {
    const parsed = parseExact(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : { _raw: text }
  } catch {
    return text.trim() === '' ? {} : { _raw: text }
  }
}
