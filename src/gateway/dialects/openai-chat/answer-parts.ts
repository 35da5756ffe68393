import type { Fields } from '../../../lib/json/fields.ts'
import { isFields } from '../../../lib/json/fields.ts'
import type { Citation, TokenLogprob } from '../neutral/events.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'

/** Reads a note on a text; null for one of a kind that is not known. */
export function readCitation(note: Fields): Citation | null {
  const about = saidFields(note, 'url_citation') ?? note
  const url = saidText(about, 'url')
  if (url === null) return null
  const [start, end] = [countOf(about['start_index']), countOf(about['end_index'])]
  return { url, title: saidText(about, 'title'), quote: saidText(about, 'content'), start, end, bag: null }
}

/** Writes a note on a text; `offset`: where in the whole text its block begins, `length`: how long the block is. */
export function writeCitation({ url, title, quote, start, end }: Citation, offset: number, length: number): object {
  const span = { start_index: offset + (start ?? 0), end_index: offset + (end ?? length) }
  const named = { title: title ?? url ?? '', ...(quote !== null && { content: quote }) }
  return url === null
    ? { type: 'document_citation', document_citation: { ...named, ...span } }
    : { type: 'url_citation', url_citation: { url, ...named, ...span } }
}

const readToken = (token: Fields): TokenLogprob => ({
  token: saidText(token, 'token') ?? '',
  logprob: typeof token['logprob'] === 'number' ? token['logprob'] : 0,
  bytes: Array.isArray(token['bytes']) ? token['bytes'].filter((byte) => typeof byte === 'number') : null,
  top: saidList(token, 'top_logprobs').map((one) => readToken(one)),
})

/** Reads how probable the tokens of a choice were. */
export const readLogprobs = (json: unknown): readonly TokenLogprob[] =>
  isFields(json) ? saidList(json, 'content').map((token) => readToken(token)) : []

const writeToken = ({ token, logprob, bytes }: TokenLogprob): object => ({ token, logprob, bytes })

export const writeLogprobs = (tokens: readonly TokenLogprob[]): object | null =>
  tokens.length === 0
    ? null
    : {
        content: tokens.map((one) => Object.assign(writeToken(one), { top_logprobs: one.top.map((other) => writeToken(other)) })),
        refusal: null,
      }
