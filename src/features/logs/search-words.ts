import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { keptWords } from '../../app/journal/log-words.ts'
import { ApiError } from '../../lib/errors.ts'
import { says, spokenBody, spokenText, wordsIn, type WordText } from '../../lib/text/words.ts'
import { textOf } from '../../lib/text/utf8.ts'
import { type Cursor, cursorOf } from './cursor.ts'
import type { LogRow } from './log-fields.ts'
import type { LogFilter } from './log.schema.ts'
import type { LogScope } from './logs.queries.ts'
import { type BodyMatches, longestMs } from './search-bodies.ts'
import { readBodies, type SearchedBodies } from './searched-bodies.ts'
import { type Look, lookAtAll, lookAtWords, type LogRange } from './word-looks.ts'

interface WordSearch {
  readonly text: string
  readonly filter: LogFilter
  readonly deps: Pick<Deps, 'vault' | 'logStore'>
}

/**
 * Searches bodies for words that come one after the other, until a page is full or the time is over. The index of words finds candidates, and bodies
 * decide: a search finds the same with the index and without it.
 */
export async function searchWords(em: EntityManager, scope: LogScope, { text, filter, deps }: WordSearch): Promise<BodyMatches> {
  const wanted = spokenText(text)
  const words = [...wordsIn(wanted)]
  if (words.length === 0) throw new ApiError('AB01', 'There is no word in it: letters or digits.', { param: 'q' })
  const kept = keptWords(new Set(words))
  const completeFrom = kept.length === 0 ? Infinity : await wordsFrom(em)
  const looks = looksOf({ em, scope, filter, completeFrom, words: kept, hash: deps.vault.words })
  const index = completeFrom === Infinity ? null : { from: completeFrom === -Infinity ? null : new Date(completeFrom).toISOString() }
  return { index, ...(await readLooks(looks, { em, scope, filter, wanted, words, deps })) }
}

/** Returns the time from which on the words of all logs are there, in epoch milliseconds. */
async function wordsFrom(em: EntityManager): Promise<number> {
  const [row] = await em.execute<{ at: number }[]>(
    `SELECT CASE WHEN isfinite(complete_from) THEN extract(epoch FROM complete_from) * 1000 ELSE extract(epoch FROM complete_from) END::float8 AS at FROM log_words_state`,
  )
  return row?.at ?? Infinity
}

interface Split extends LogRange {
  readonly completeFrom: number
  readonly words: readonly string[]
  readonly hash: Deps['vault']['words']
}

/** The ids before and behind all others. */
const [firstId, lastId] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']

/** Looks at the logs that the index has by it, and at earlier ones one after the other. */
async function* looksOf(split: Split): AsyncGenerator<Look> {
  const { completeFrom: at, filter } = split
  if (!Number.isFinite(at)) {
    yield* at === Infinity ? lookAtAll(split) : lookAtWords(split)
    return
  }
  const [indexed, earlier] = [
    lookAtWords({ ...split, filter: notBefore(filter, at) }),
    lookAtAll({ ...split, filter: notAfter(filter, at - 1) }),
  ]
  const [first, second, border] =
    filter.order === 'asc' ? [earlier, indexed, { createdAt: at - 1, id: lastId }] : [indexed, earlier, { createdAt: at, id: firstId }]
  for await (const look of first) yield { ...look, end: look.end ?? border }
  yield* second
}

const notBefore = (filter: LogFilter, at: number): LogFilter => {
  const { time_of_generation_min: min } = filter
  return { ...filter, time_of_generation_min: new Date(Math.max(min === undefined ? at : Date.parse(min), at)).toISOString() }
}
const notAfter = (filter: LogFilter, at: number): LogFilter => {
  const { time_of_generation_max: max } = filter
  return { ...filter, time_of_generation_max: new Date(Math.min(max === undefined ? at : Date.parse(max), at)).toISOString() }
}

interface WordSearchStep extends Omit<WordSearch, 'text'> {
  readonly em: EntityManager
  readonly scope: LogScope
  readonly wanted: WordText
  readonly words: readonly string[]
}

/** As many bodies are in memory at a time: more, the quicker they are read. */
const group = { fewest: 10, most: 100, quickMs: 50 }

/** A log that was read, or the end of a look. */
interface Step {
  readonly at: Cursor
  readonly log: LogRow | null
  readonly found: SearchedBodies | 'closed' | undefined
  /** True if a search may end here. */
  readonly isPause: boolean
}

/** Reads bodies look by look, some logs at a time. */
async function* stepsOf(looks: AsyncGenerator<Look>, reading: WordSearchStep): AsyncGenerator<Step> {
  let many = group.fewest
  for await (const { logs, end, isIndexed } of looks) {
    for (let from = 0; from < logs.length;) {
      const startedAt = performance.now()
      const those = logs.slice(from, from + many)
      const bodies = await readBodies({ ...reading, logs: those, fetches: isIndexed })
      from += those.length
      const isQuick = performance.now() - startedAt < group.quickMs
      many = isQuick ? Math.min(many * 2, group.most) : Math.max(Math.floor(many / 2), group.fewest)
      for (const log of those)
        yield { log, at: cursorOf(log), found: bodies.get(log.id), isPause: log === those.at(-1) && from < logs.length }
    }
    if (end !== null) yield { log: null, at: end, found: undefined, isPause: true }
  }
}

/** Reads until a page is full or the time is over. */
async function readLooks(looks: AsyncGenerator<Look>, reading: WordSearchStep): Promise<Omit<BodyMatches, 'index'>> {
  const begunAt = performance.now()
  const rows: LogRow[] = []
  let [read, unreadable] = [0, 0]
  for await (const { log, at, found, isPause } of stepsOf(looks, reading)) {
    if (found === 'closed') unreadable += 1
    else if (found !== undefined && log !== null) {
      read += 1
      if (saysSo(found, reading.wanted)) rows.push(log)
    }
    const isOver = isPause && performance.now() - begunAt > longestMs
    if (isOver || rows.length === reading.filter.page_size) return { rows, read, unreadable, last: at }
  }
  return { rows, read, unreadable, last: null }
}

const saysSo = (bodies: SearchedBodies, wanted: WordText): boolean =>
  bodies.some((body) => {
    const text = body === null ? null : textOf(body)
    return text !== null && says(spokenBody(text), wanted)
  })
