import { decodeConfidential, createLogSeal, SealError } from '../../gateway/ports/journal.ts'
import { inflatedNow } from '../../lib/text/inflate.ts'
import { spokenBody, wordsIn } from '../../lib/text/words.ts'
import { textOf } from '../../lib/text/utf8.ts'
import { createWordHash } from '../secrets/word-hash.ts'
import type { LoggedExchange } from './columns.ts'

/** So many distinct words of a log are kept, and so much of each of its bodies is read for them. */
const most = { words: 2_000, bytes: 256 * 1024 }

/** Words of other lengths are not kept: few ask for a letter, and longer ones are data. */
const isKept = (word: string): boolean => word.length >= 2 && word.length <= 64

/** Returns the words by whose hashes a text is found; none: it has none that are kept. */
export const keptWords = (words: ReadonlySet<string>): readonly string[] => [...words].filter(isKept)

/** The word, which is none, that logs have whose words are not all there: they are always read. */
export const cutWord = ''

/** The bodies of a log as they were sent, and how they were encoded. */
type Bodies = readonly (readonly [body: Uint8Array | null, headers: Readonly<Record<string, string>>])[]

/** Returns the reader of the hashes of a log's words. Sealed bodies are opened for it; the log key stays in memory. */
export function createWordReader(logKey: Uint8Array): (log: LoggedExchange) => readonly number[] {
  const seal = createLogSeal(logKey)
  const hash = createWordHash(logKey)
  const bodiesOf = ({ record, bodies }: LoggedExchange): Bodies | null => {
    if (bodies.sealed === null)
      return [
        [bodies.request, record.requestHeaders],
        [bodies.response, record.responseHeaders],
      ]
    try {
      const { request, response, requestHeaders, responseHeaders } = decodeConfidential(seal.open(record, bodies.sealed))
      return [
        [request, requestHeaders],
        [response, responseHeaders],
      ]
    } catch (error) {
      // A process that died had another key.
      if (error instanceof SealError) return null
      throw error
    }
  }
  return (log) => {
    const found = bodiesOf(log)
    const bodies = (found ?? []).flatMap(([body, headers]) => (body === null ? [] : [inflatedNow(body, headers['content-encoding'])]))
    const words = new Set(bodies.flatMap((body) => keptWords(wordsOfBody(body))))
    const isCut = found === null || words.size > most.words || bodies.some(({ length }) => length > most.bytes)
    const hashes = [...words].slice(0, most.words).map((word) => hash.of(log.record.organisationId, word))
    return isCut ? [...hashes, hash.of(log.record.organisationId, cutWord)] : hashes
  }
}

function wordsOfBody(body: Uint8Array): ReadonlySet<string> {
  const text = textOf(body.subarray(0, most.bytes))
  return text === null ? new Set() : wordsIn(spokenBody(text))
}
