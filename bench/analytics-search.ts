import { setTimeout as sleep } from 'node:timers/promises'
import { workspaceKey } from '../test/support/process.ts'
import { type Bench, spread, type Spread } from './analytics-bench.ts'
import { kilobytes } from './analytics-data.ts'

/** How long it takes to find a text in bodies. */
export interface SearchFigures {
  /** A page of words in nearly every body. */
  readonly frequent: Spread
  /** All matches of words in one body in a hundred thousand: the whole time, the answers that it takes, and the matches. */
  readonly rare: SearchOfAll
  /** The same words in logs whose words are in the index, and how many logs these are. */
  readonly indexed: SearchOfAll & { readonly logs: number }
}

interface SearchOfAll {
  readonly ms: number
  readonly answers: number
  readonly longest: number
  readonly found: number
  readonly read: number
}

export async function measureSearch(bench: Bench, since: number): Promise<SearchFigures> {
  const from = new Date(since).toISOString()
  const frequent: number[] = []
  for (let turn = 0; turn < 20; turn++) frequent.push((await bench.ask(`/logs?q=zen&time_of_generation_min=${from}`)).ms)
  const rare = await searchAll(bench, `/logs?q=marked%20order&time_of_generation_min=${from}`)
  return { frequent: spread(frequent), rare, indexed: await measureIndex(bench) }
}

const indexedLogs = 100_000
const perCall = 100
const beginsWithinMs = 120_000

/** Inserts logs whose words are kept, one of which has a rare word, and looks for it. */
async function measureIndex(bench: Bench): Promise<SearchFigures['indexed']> {
  const text = kilobytes()
  const insert = (texts: readonly string[], traceId = 'indexed') =>
    bench.ask('/logs', {
      method: 'POST',
      as: workspaceKey,
      body: texts.map((content) => ({
        request: { url: 'https://api.example.com/v1/chat', body: { model: 'indexed', messages: [{ role: 'user', content }] } },
        response: { body: {} },
        metadata: { trace_id: traceId },
      })),
    })
  const startedAt = Date.now()
  // Logs that were inserted without their words ended the index; the shipper begins it again once a minute.
  while (((await bench.ask('/logs?q=zen&match=words&page_size=1')).body['search'] as { readonly index: unknown }).index === null) {
    if (Date.now() - startedAt > beginsWithinMs) throw new Error('the index of words does not begin')
    await insert(['a'])
    await sleep(2000)
  }
  for (let place = 0; place < indexedLogs; place += perCall)
    await insert(
      Array.from({ length: perCall }, (_, at) => (place + at === indexedLogs / 2 ? `${text(at)} Marked order 4711` : text(place + at))),
    )
  // Logs are shipped in the order in which they came.
  await insert(['the last one'], 'last')
  while (((await bench.ask('/logs?trace_id=last&page_size=1')).body['data'] as readonly unknown[]).length === 0) await sleep(500)
  const from = new Date(startedAt).toISOString()
  const found = await searchAll(bench, `/logs?q=marked%20order&match=words&time_of_generation_min=${from}`)
  if (found.found !== 1) throw new Error(`the index of words finds ${found.found} logs of one`)
  return { ...found, logs: indexedLogs }
}

async function searchAll(bench: Bench, path: string): Promise<SearchOfAll> {
  let [ms, answers, longest, found, read] = [0, 0, 0, 0, 0]
  for (let after: unknown = ''; typeof after === 'string'; answers++) {
    const { ms: took, body } = await bench.ask(after === '' ? path : `${path}&after=${after}`)
    ms += took
    longest = Math.max(longest, took)
    found += (body['data'] as readonly unknown[]).length
    read += (body['search'] as { readonly read: number }).read
    after = body['next_cursor']
  }
  return { ms, answers, longest, found, read }
}
