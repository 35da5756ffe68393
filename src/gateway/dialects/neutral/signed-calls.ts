import type { AnswerBlock } from './answer.ts'
import type { BlockEnd, NeutralEvent } from './events.ts'
import { plainEnd } from './events.ts'
import type { Part } from './parts.ts'

/**
 * Google signs calls. Formats that have no place for that hold the signature as sealed reasoning behind the call, which their clients send back as it
 * came: these functions take it apart from the call, and put it together again.
 */
const sealedBy = ({ signature }: BlockEnd): BlockEnd => ({ signature, redacted: true })

/** Returns the blocks of an answer, with the signatures of calls behind them. */
export const withSignaturesApart = (blocks: readonly AnswerBlock[]): readonly AnswerBlock[] =>
  blocks.flatMap((block) => {
    if (block.block.kind !== 'tool-call' || block.end.signature === null) return [block]
    return [
      { ...block, end: plainEnd },
      { block: { kind: 'reasoning' }, text: '', citations: [], logprobs: [], end: sealedBy(block.end) },
    ]
  })

/** Returns the events with the signature of a call behind it, from the event that ended the call. */
export const signatureBehind = ({ choice, end }: Extract<NeutralEvent, { readonly type: 'block-end' }>): readonly NeutralEvent[] =>
  end.signature === null
    ? []
    : [
        { type: 'block-start', choice, block: { kind: 'reasoning' } },
        { type: 'block-end', choice, end: sealedBy(end) },
      ]

const isSeal = (part: Part | undefined) => part?.kind === 'reasoning' && part.redacted && part.signature?.origin === 'google'

/** Returns the parts of a turn, in which calls have their signatures again. */
export function withSignedCalls(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(isSeal)) return parts
  return parts.flatMap((part, index) => {
    const [before, after] = [parts[index - 1], parts[index + 1]]
    if (isSeal(part) && before?.kind === 'tool-call' && before.signature === null) return []
    const signs = part.kind === 'tool-call' && part.signature === null && after?.kind === 'reasoning' && isSeal(after)
    return [signs ? { ...part, signature: after.signature } : part]
  })
}
