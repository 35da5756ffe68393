import type { AnswerContext } from '../codec.ts'
import type { AnswerChoice, NeutralAnswer } from '../neutral/answer.ts'
import type { Finish } from '../neutral/finish.ts'
import { finishOf } from '../neutral/finish.ts'
import { writeCounts } from '../openai-chat/counts.ts'
import { writeFinish } from '../openai-chat/finish.ts'
import { hashedId } from '../tool-calls.ts'

/** The kinds of blocks that hold the model's text. */
export const spoken: ReadonlySet<string> = new Set(['text', 'refusal'])

/** Writes a whole answer. */
export function encodeAnswer(answer: NeutralAnswer, context: AnswerContext): object {
  const prefix = prefixOf(context)
  return {
    ...headOf(answer, context),
    choices: answer.choices.map((choice, index) => writeChoice(choice, index, prefix)),
    ...(answer.usage !== null && { usage: writeCounts(answer.usage) }),
  }
}

/** Returns the prompt, where the caller wants it in front of each answer. */
export function prefixOf({ request }: AnswerContext): string {
  const { prompt } = request.echo
  return typeof prompt === 'string' ? prompt : ''
}

/** Returns the begin of the whole answer and of each chunk of a stream. */
export const headOf = (
  { id, created, model }: Pick<NeutralAnswer, 'id' | 'created' | 'model'>,
  { requestId, now, model: asked }: AnswerContext,
): object => ({
  id: id ?? `cmpl-${hashedId(requestId, 24)}`,
  object: 'text_completion',
  created: created ?? now,
  model: model ?? asked,
})

const writeChoice = ({ blocks, finish }: AnswerChoice, index: number, prefix: string): object => ({
  text: prefix + blocks.flatMap(({ block, text }) => (spoken.has(block.kind) ? [text] : [])).join(''),
  index,
  logprobs: null,
  finish_reason: wordOf(finish ?? finishOf('stop')),
})

/** Returns the word for a finish: there are no calls of tools here. */
export const wordOf = (finish: Finish): string => (finish.reason === 'tool-calls' ? 'stop' : writeFinish(finish, false))
