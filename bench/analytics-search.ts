import { type Bench, spread, type Spread } from './analytics-bench.ts'

/** How long it takes to find a text in bodies. */
export interface SearchFigures {
  /** A page of what nearly every body says. */
  readonly frequent: Spread
  /** All of what one body in a hundred thousand says: the whole time, the answers that it takes, and what they found. */
  readonly rare: { readonly ms: number; readonly answers: number; readonly longest: number; readonly found: number; readonly read: number }
}

export async function measureSearch(bench: Bench, since: number): Promise<SearchFigures> {
  const from = new Date(since).toISOString()
  const frequent: number[] = []
  for (let turn = 0; turn < 20; turn++) frequent.push((await bench.ask(`/logs?q=zen&time_of_generation_min=${from}`)).ms)
  return { frequent: spread(frequent), rare: await searchAll(bench, `/logs?q=marked%20order&time_of_generation_min=${from}`) }
}

async function searchAll(bench: Bench, path: string): Promise<SearchFigures['rare']> {
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
