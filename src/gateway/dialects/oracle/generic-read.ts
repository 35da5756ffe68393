import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { compact } from '../compact.ts'
import { saidFields, saidList, saidText } from '../reading.ts'

/** Reads a whole answer, or an event of a stream, which is a choice without a frame around it. */
export function read(json: Fields): Fields | null {
  if ('code' in json && 'message' in json && typeof json['message'] === 'string') return { error: json }
  const answer = saidFields(json, 'chatResponse') ?? json
  const choices = choicesOf(answer)
  const usage = usageOf(answer, choices)
  if (choices.length === 0 && usage === null) return null
  return compact({ model: saidText(json, 'modelId'), created: secondsOf(answer), choices: choices.map(readChoice), usage })
}

function choicesOf(answer: Fields): readonly Fields[] {
  if ('choices' in answer) return saidList(answer, 'choices')
  return isEvent(answer) ? [answer] : []
}

/** Counts stand beside the choices, or in one of them. */
function usageOf(answer: Fields, choices: readonly Fields[]): Fields | null {
  const usage = [answer, ...choices].map((one) => saidFields(one, 'usage')).find((one) => one !== null) ?? null
  return usage === null ? null : readUsage(usage)
}

function secondsOf(answer: Fields): number | null {
  const created = Date.parse(saidText(answer, 'timeCreated') ?? '')
  return Number.isNaN(created) ? null : Math.floor(created / 1000)
}

const isEvent = (json: Fields): boolean => 'message' in json || 'finishReason' in json

function readChoice(choice: Fields): Fields {
  const message = saidFields(choice, 'message') ?? {}
  return compact({
    index: choice['index'] ?? 0,
    delta: compact({
      content: textOf(message['content']),
      reasoning_content: message['reasoningContent'],
      refusal: message['refusal'],
      tool_calls: saidList(message, 'toolCalls').map(readCall),
      annotations: saidList(message, 'annotations').map(readNote),
    }),
    logprobs: readLogprobs(saidFields(choice, 'logprobs')),
    finish_reason: saidText(choice, 'finishReason')?.toLowerCase() ?? null,
  })
}

const textOf = (content: unknown): string | null =>
  Array.isArray(content) ? content.map((part) => (isFields(part) ? (saidText(part, 'text') ?? '') : '')).join('') : null

/** A piece without an id belongs to the last call. */
const readCall = ({ id, name, arguments: given }: Fields): Fields => compact({ id, function: compact({ name, arguments: given }) })

function readNote(note: Fields): Fields {
  const { url, title, startIndex, endIndex } = saidFields(note, 'urlCitation') ?? {}
  return { type: 'url_citation', url_citation: compact({ url, title, start_index: startIndex, end_index: endIndex }) }
}

/** Tokens, figures and alternatives stand in three lists. */
function readLogprobs(logprobs: Fields | null): Fields | null {
  if (logprobs === null) return null
  const [tokens, figures, tops] = [logprobs['tokens'], logprobs['tokenLogprobs'], logprobs['topLogprobs']].map((list) =>
    Array.isArray(list) ? (list as readonly unknown[]) : [],
  )
  const content = (tokens ?? []).map((token, at) => {
    const top = tops?.[at]
    return {
      token,
      logprob: figures?.[at],
      top_logprobs: isFields(top) ? Object.entries(top).map(([one, figure]) => ({ token: one, logprob: Number(figure) })) : [],
    }
  })
  return content.length === 0 ? null : { content }
}

/** Returns counts in OpenAI's words. */
export function readUsage(usage: Fields): Fields {
  const [prompt, completion] = [saidFields(usage, 'promptTokensDetails'), saidFields(usage, 'completionTokensDetails')]
  return compact({
    prompt_tokens: usage['promptTokens'],
    completion_tokens: usage['completionTokens'],
    total_tokens: usage['totalTokens'],
    prompt_tokens_details: prompt === null ? null : compact({ cached_tokens: prompt['cachedTokens'] }),
    completion_tokens_details: completion === null ? null : compact({ reasoning_tokens: completion['reasoningTokens'] }),
  })
}
