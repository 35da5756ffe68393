import type { Fields } from '../../../lib/json/fields.ts'
import type { Citation, TokenLogprob } from '../neutral/events.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import type { CountedText } from './counted-text.ts'

/** Text that an answer refers to sources in: Google counts its bytes, others its UTF-16 units. */
export interface SourceText {
  readonly text: CountedText
  /** The length of the blocks of text before the open one. */
  readonly before: number
}

type Span = Pick<Citation, 'start' | 'end'>

function spanOf(segment: Fields, { text, before }: SourceText): Span {
  const end = countOf(segment['endIndex'])
  if (end === null) return nowhere
  const start = countOf(segment['startIndex']) ?? 0
  const units = (bytes: number) => Math.max(0, text.unitsAt(bytes) - before)
  return { start: units(start), end: units(end) }
}

const nowhere: Span = { start: null, end: null }

/** A source at one place of a text; any number of places may name the same page. */
export interface CitedPage extends Span {
  readonly page: Page
}

/** Reads the sources of an answer one by one: pages that Google found, and sources that the model quotes. */
export function* citedPages(candidate: Fields, source: SourceText): Generator<CitedPage> {
  const grounding = saidFields(candidate, 'groundingMetadata')
  const quoted = saidFields(candidate, 'citationMetadata')
  if (grounding !== null) yield* groundingPages(grounding, source)
  if (quoted !== null) yield* quotedPages(quoted, source)
}

function* groundingPages(grounding: Fields, source: SourceText): Generator<CitedPage> {
  const pages = saidList(grounding, 'groundingChunks').map((chunk) => readChunk(chunk))
  const supports = saidList(grounding, 'groundingSupports')
  if (supports.length === 0) for (const page of pages) yield { page, ...nowhere }
  for (const support of supports) {
    const { start, end } = spanOf(saidFields(support, 'segment') ?? {}, source)
    const { groundingChunkIndices: indices } = support
    for (const index of Array.isArray(indices) ? indices : []) {
      const page = typeof index === 'number' ? pages[index] : undefined
      if (page !== undefined) yield { page, start, end }
    }
  }
}

export type Page = Omit<Citation, 'start' | 'end'>

function readChunk(chunk: Fields): Page {
  const from = saidFields(chunk, 'web') ?? saidFields(chunk, 'retrievedContext') ?? saidFields(chunk, 'maps') ?? {}
  return { url: saidText(from, 'uri'), title: saidText(from, 'title'), quote: saidText(from, 'text'), bag: null }
}

function* quotedPages(quoted: Fields, source: SourceText): Generator<CitedPage> {
  for (const one of [...saidList(quoted, 'citations'), ...saidList(quoted, 'citationSources')])
    yield { page: { url: saidText(one, 'uri'), title: saidText(one, 'title'), quote: null, bag: null }, ...spanOf(one, source) }
}

/** Returns how often Google searched the web for an answer; null when it does not state it. */
export function searchesOf(candidate: Fields): number | null {
  const queries = saidFields(candidate, 'groundingMetadata')?.['webSearchQueries']
  return Array.isArray(queries) && queries.length > 0 ? queries.length : null
}

/** Returns true if an answer rests on places of Google Maps, which cost by the prompt. */
export const restsOnMaps = (candidate: Fields): boolean =>
  saidList(saidFields(candidate, 'groundingMetadata') ?? {}, 'groundingChunks').some((chunk) => saidFields(chunk, 'maps') !== null)

/** A source with its place in the whole text of an answer, in bytes. */
export interface PlacedCitation {
  readonly citation: Citation
  readonly start: number
  readonly end: number
}

/** Returns where a citation of a block stands in bytes; `before`: the bytes of the blocks before it. */
export function placedCitation(citation: Citation, text: CountedText, before: number): PlacedCitation {
  const [start, end] = [citation.start ?? 0, citation.end ?? text.length]
  return { citation, start: before + text.bytesAt(start), end: before + text.bytesAt(end) }
}

/** Writes the sources of an answer. */
export function writeGrounding(placed: readonly PlacedCitation[]): Fields {
  if (placed.length === 0) return {}
  const pages = new Map(placed.map(({ citation }) => [keyOf(citation), citation]))
  const places = new Map([...pages.keys()].map((key, at) => [key, at]))
  return {
    groundingMetadata: {
      groundingChunks: [...pages.values()].map(({ url, title }) => ({ web: { uri: url ?? '', title: title ?? url ?? '' } })),
      groundingSupports: placed.map(({ citation, start, end }) => ({
        segment: { startIndex: start, endIndex: end, ...(citation.quote !== null && { text: citation.quote }) },
        groundingChunkIndices: [places.get(keyOf(citation)) ?? 0],
      })),
    },
  }
}

export const keyOf = ({ url, title }: Page): string => `${url ?? ''}\n${title ?? ''}`

const readToken = (token: Fields, top: readonly TokenLogprob[] = []): TokenLogprob => ({
  token: saidText(token, 'token') ?? '',
  logprob: typeof token['logProbability'] === 'number' ? token['logProbability'] : 0,
  bytes: null,
  top,
})

/** Reads how probable the tokens of a candidate were. */
export function readLogprobs(candidate: Fields): readonly TokenLogprob[] {
  const result = saidFields(candidate, 'logprobsResult')
  if (result === null) return []
  const top = saidList(result, 'topCandidates')
  return saidList(result, 'chosenCandidates').map((token, index) =>
    readToken(
      token,
      saidList(top[index] ?? {}, 'candidates').map((one) => readToken(one)),
    ),
  )
}

const writeToken = ({ token, logprob }: Pick<TokenLogprob, 'token' | 'logprob'>): object => ({ token, logProbability: logprob })

export const writeLogprobs = (tokens: readonly TokenLogprob[]): Fields =>
  tokens.length === 0
    ? {}
    : {
        avgLogprobs: tokens.reduce((sum, { logprob }) => sum + logprob, 0) / tokens.length,
        logprobsResult: {
          chosenCandidates: tokens.map((token) => writeToken(token)),
          topCandidates: tokens.map(({ top }) => ({ candidates: top.map((token) => writeToken(token)) })),
        },
      }
