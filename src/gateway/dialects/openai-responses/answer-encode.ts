import type { AnswerContext } from '../codec.ts'
import type { NeutralAnswer } from '../neutral/answer.ts'
import { withSignaturesApart } from '../neutral/signed-calls.ts'
import { namespaceOf } from './namespaces.ts'
import { endOf, itemId, writeAnnotation, writeCounts, writeItem, writeLogprobs, writeResponse } from './output-items.ts'

/** Writes a whole response: the first of several answers. */
export function encodeAnswer(answer: NeutralAnswer, context: AnswerContext): object {
  const [choice] = answer.choices
  const output = withSignaturesApart(choice?.blocks ?? []).flatMap(({ block, text, citations, logprobs, end }, index) => {
    const state = {
      id: itemId(block, context.requestId, index),
      block,
      text,
      annotations: citations.map((citation) => writeAnnotation(citation, text.length)),
      logprobs: writeLogprobs(logprobs),
      namespace: namespaceOf(block, context.request.tools),
    }
    const item = writeItem(state, end)
    return item === null ? [] : [item]
  })
  return writeResponse(answer, context, {
    ...endOf(choice?.finish ?? null),
    output,
    usage: answer.usage === null ? null : writeCounts(answer.usage),
    ...(answer.tier !== null && { service_tier: answer.tier }),
  })
}
