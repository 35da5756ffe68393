import { column, createArrayWriter } from './binary-array.ts'
import type { LoggedExchange } from './columns.ts'

/** The words of a batch as parameters of `wordsStatement`; valid until the next batch is encoded. */
export interface EncodedWords {
  /** Logs that have words. */
  readonly count: number
  readonly parameters: readonly Buffer[]
}

/** The places of the words of a log among those of its batch, counted from 1. */
interface WordsOfLog {
  readonly log: LoggedExchange
  readonly first: number
  readonly last: number
}

const of = column<WordsOfLog>()
const columns = [
  of('id', 'uuid', ({ log }) => log.record.id),
  of('organisation_id', 'uuid', ({ log }) => log.record.organisationId),
  of('created_at', 'timestamptz', ({ log }) => log.record.createdAt),
  of('first', 'int4', ({ first }) => first),
  of('last', 'int4', ({ last }) => last),
] as const
const word = column<number>()('word', 'int4', (value) => value)

/** The words of all logs are one array, of which each log takes its part: arrays of arrays have all the same length. */
export const wordsStatement = `
  INSERT INTO log_words (id, organisation_id, created_at, words)
  SELECT r.id, r.organisation_id, r.created_at, ($6::int4[])[r.first : r.last]
    FROM unnest(${columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join(', ')}) AS r (${columns.map(({ name }) => name).join(', ')})
  ON CONFLICT DO NOTHING`

/** An encoder with its own memory, which is given one log after the other. */
export function createWordsEncoder(wordsOf: (log: LoggedExchange) => readonly number[]) {
  const places = columns.map(createArrayWriter)
  const words = createArrayWriter(word)
  let [logs, written] = [0, 0]
  return {
    reset() {
      ;[logs, written] = [0, 0]
      for (const array of [...places, words]) array.reset()
    },
    add(log: LoggedExchange) {
      const own = wordsOf(log)
      if (own.length === 0) return
      for (const hash of own) words.add(hash)
      const place = { log, first: written + 1, last: written + own.length }
      for (const array of places) array.add(place)
      logs += 1
      written = place.last
    },
    finish: (): EncodedWords => ({ count: logs, parameters: [...places.map((array) => array.finish(logs)), words.finish(written)] }),
  }
}
