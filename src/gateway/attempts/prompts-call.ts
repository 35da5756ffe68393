import { isFields } from '../../lib/json/fields.ts'
import { JoinedCompletions } from '../answers/joined-completions.ts'
import { noUnused } from '../answers/unused-answer.ts'
import type { AimedCall } from '../call.ts'
import { severalPrompts } from '../dialects/completions/prompts.ts'
import { sumUsages } from '../dialects/neutral/token-usage.ts'
import { conversationOf } from '../operations/conversation.ts'
import type { TaskCall } from './task-call.ts'
import { servingFor, type TranslatedCall, translateTo, type TranslationOptions } from './translation.ts'

/** Translates a request for completions of several prompts to chats, one for each. Null: it has one prompt, or its provider takes them. Throws `invalid_request`. */
export function promptsCall(aimed: AimedCall, options: TranslationOptions): TaskCall | null {
  const { call, body } = aimed
  if (call.operation.name !== 'complete' || !isFields(body.json)) return null
  const asked = conversationOf(call)
  const serving = asked === null ? null : servingFor(aimed, asked)
  const prompts = asked === null || serving === null ? null : severalPrompts(body.json)
  if (asked === null || serving === null || prompts === null) return null
  const calls: TranslatedCall[] = []
  for (const prompt of prompts) {
    const json = { ...body.json, prompt }
    const part = translateTo({ ...aimed, body: { ...body, json } }, { asked, serving }, options)
    if (part !== null) calls.push(part)
  }
  const [first] = calls
  return first === undefined ? null : joined(calls, { first, perPrompt: choicesAsked(body.json), maxHeldBytes: options.maxHeldBytes })
}

const choicesAsked = ({ n }: Readonly<Record<string, unknown>>): number => (typeof n === 'number' && n > 1 ? n : 1)

interface JoinOptions {
  readonly first: TranslatedCall
  readonly perPrompt: number
  readonly maxHeldBytes: number
}

function joined(calls: readonly TranslatedCall[], { first, perPrompt, maxHeldBytes }: JoinOptions): TaskCall {
  let answer: JoinedCompletions | null = null
  return {
    ...first,
    bodies: calls.map(({ body }) => body),
    joinedFor: (inner) => {
      answer = new JoinedCompletions({
        inner,
        parts: calls.length,
        perPrompt,
        maxHeldBytes,
        answerFor: (part, handler) => calls[part]?.answerFor(handler) ?? handler,
        usageOf: (part) => calls[part]?.usage() ?? null,
        refusedOf: (part) => calls[part]?.unused() ?? noUnused,
      })
      return answer
    },
    unused: () => answer?.unused() ?? noUnused,
    close: () => calls.map((call) => call.close()).find((ms) => ms !== null) ?? null,
    usage: () => sumUsages(calls.map((call) => call.usage())),
    providerError: () => calls.map((call) => call.providerError()).find((error) => error !== null) ?? null,
  }
}
