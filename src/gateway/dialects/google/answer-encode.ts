import type { Fields } from '../../../lib/json/fields.ts'
import type { AnswerContext } from '../codec.ts'
import type { AnswerBlock, AnswerChoice, NeutralAnswer } from '../neutral/answer.ts'
import { finishOf } from '../neutral/finish.ts'
import { hashedId } from '../tool-calls.ts'
import { CandidateEncoder } from './candidate-encode.ts'
import { writeCounts } from './counts.ts'

/** Returns the id of an answer whose provider gave none. */
export const madeId = (requestId: string): string => hashedId(requestId, 22)

/** Writes a whole answer. */
export function encodeAnswer(answer: NeutralAnswer, context: AnswerContext): object {
  return {
    candidates: answer.choices.map((choice, index) => writeCandidate(choice, index, context)),
    ...(answer.usage !== null && { usageMetadata: writeCounts(answer.usage) }),
    modelVersion: answer.model ?? context.model,
    responseId: answer.id ?? madeId(context.requestId),
  }
}

function writeCandidate({ blocks, finish }: AnswerChoice, index: number, context: AnswerContext): object {
  const encoder = new CandidateEncoder(context)
  const parts = blocks.flatMap((block) => writeBlock(block, encoder))
  encoder.finish(finish ?? finishOf('stop'))
  parts.push(...encoder.rest())
  return { content: { parts: parts.length === 0 ? [{ text: '' }] : parts, role: 'model' }, ...encoder.tail(), index }
}

function writeBlock({ block, text, citations, logprobs, end }: AnswerBlock, encoder: CandidateEncoder): readonly Fields[] {
  const parts = [...encoder.open(block)]
  const kind = encoder.piece(text)
  if (kind !== null && text !== '') parts.push(kind === 'text' ? { text } : { text, thought: true })
  for (const citation of citations) encoder.cite(citation)
  encoder.logprobs(logprobs)
  return [...parts, ...encoder.close(end)]
}
