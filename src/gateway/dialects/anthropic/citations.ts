import type { Fields } from '../../../lib/json/fields.ts'
import { isFields } from '../../../lib/json/fields.ts'
import type { Citation } from '../neutral/events.ts'
import { saidText } from '../reading.ts'

/** Reads a citation, which is of its whole block. */
export const readCitation = (json: Fields): Citation => ({
  url: saidText(json, 'url') ?? saidText(json, 'source'),
  title: saidText(json, 'title') ?? saidText(json, 'document_title'),
  quote: saidText(json, 'cited_text'),
  start: null,
  end: null,
  bag: { anthropic: json },
})

/** Writes a citation: Anthropic's own as it was, others as results of a search in the web. */
export function writeCitation({ url, title, quote, bag }: Citation): object {
  const own = bag?.anthropic
  if (isFields(own)) return own
  return { type: 'web_search_result_location', url: url ?? '', title, cited_text: quote ?? '', encrypted_index: '' }
}
