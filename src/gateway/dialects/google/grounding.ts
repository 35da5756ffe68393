import type { Fields } from '../../../lib/json/fields.ts'
import type { Citation, TokenLogprob } from '../neutral/events.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'

/** Text that an answer refers to sources in: Google counts its bytes, others its UTF-16 units. */
export interface SourceText {
  readonly text: string
  /** The length of the blocks of text before the open one. */
  readonly before: number
}

const unitsAt = (text: string, bytes: number): number => Buffer.from(text).subarray(0, bytes).toString('utf8').length

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

function spanOf(segment: Fields, { text, before }: SourceText): Pick<Citation, 'start' | 'end'> {
  const end = countOf(segment['endIndex'])
  if (end === null) return { start: null, end: null }
  const start = countOf(segment['startIndex']) ?? 0
  const plain = isAscii(text)
  const units = (bytes: number) => Math.max(0, (plain ? bytes : unitsAt(text, bytes)) - before)
  return { start: units(start), end: units(end) }
}

/** Reads the sources of an answer: pages that Google found, and sources that the model quotes. */
export function readCitations(candidate: Fields, source: SourceText): readonly Citation[] {
  const grounding = saidFields(candidate, 'groundingMetadata')
  const quoted = saidFields(candidate, 'citationMetadata')
  return [...(grounding === null ? [] : readGrounding(grounding, source)), ...(quoted === null ? [] : readQuoted(quoted, source))]
}

function readGrounding(grounding: Fields, source: SourceText): readonly Citation[] {
  const chunks = saidList(grounding, 'groundingChunks').map((chunk) => readChunk(chunk))
  const supports = saidList(grounding, 'groundingSupports')
  if (supports.length === 0) return chunks.map((chunk) => ({ ...chunk, start: null, end: null }))
  return supports.flatMap((support) => {
    const span = spanOf(saidFields(support, 'segment') ?? {}, source)
    const { groundingChunkIndices: indices } = support
    return (Array.isArray(indices) ? indices : []).flatMap((index) => {
      const chunk = typeof index === 'number' ? chunks[index] : undefined
      return chunk === undefined ? [] : [{ ...chunk, ...span }]
    })
  })
}

type Page = Omit<Citation, 'start' | 'end'>

function readChunk(chunk: Fields): Page {
  const from = saidFields(chunk, 'web') ?? saidFields(chunk, 'retrievedContext') ?? saidFields(chunk, 'maps') ?? {}
  return { url: saidText(from, 'uri'), title: saidText(from, 'title'), quote: saidText(from, 'text'), bag: null }
}

const readQuoted = (quoted: Fields, source: SourceText): readonly Citation[] =>
  [...saidList(quoted, 'citations'), ...saidList(quoted, 'citationSources')].map((one) => ({
    url: saidText(one, 'uri'),
    title: saidText(one, 'title'),
    quote: null,
    start: spanOf(one, source).start,
    end: spanOf(one, source).end,
    bag: null,
  }))

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
export function placedCitation(citation: Citation, text: string, before: number): PlacedCitation {
  const [start, end] = [citation.start ?? 0, citation.end ?? text.length]
  return { citation, start: before + Buffer.byteLength(text.slice(0, start)), end: before + Buffer.byteLength(text.slice(0, end)) }
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

const keyOf = ({ url, title }: Citation): string => `${url ?? ''}\n${title ?? ''}`

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
