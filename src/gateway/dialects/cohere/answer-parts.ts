import type { Fields } from '../../../lib/json/fields.ts'
import type { Citation, TokenLogprob } from '../neutral/events.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'

const nothing: Fields = {}

/** Reads the sources of a piece of text; null for one without an address. */
export function readCitations(citation: Fields): readonly Citation[] {
  const [start, end] = [countOf(citation['start']), countOf(citation['end'])]
  return saidList(citation, 'sources').map((source) => {
    const document = saidFields(source, 'document') ?? saidFields(source, 'tool_output') ?? nothing
    return {
      url: saidText(document, 'url'),
      title: saidText(document, 'title') ?? saidText(source, 'id'),
      quote: saidText(document, 'text') ?? saidText(document, 'snippet'),
      start,
      end,
      bag: null,
    }
  })
}

/** Cohere returns the text of a piece, and the figures of its tokens. */
export function readLogprobs(one: Fields): readonly TokenLogprob[] {
  const { logprobs } = one
  const logprob: unknown = Array.isArray(logprobs) ? logprobs[0] : undefined
  return typeof logprob === 'number' ? [{ token: saidText(one, 'text') ?? '', logprob, bytes: null, top: [] }] : []
}
