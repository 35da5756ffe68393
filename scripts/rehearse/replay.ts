import { createHash } from 'node:crypto'
import { isDataPlane, parse, send, type Answer, type Exchange, type Request, type Target } from './client.ts'
import { isEcho, tokens, type Reading, type Recording } from './recording.ts'
import { differences, misfits, shapeOf } from './shape.ts'

/** Reads everything again; reports each difference. */
export async function readBack(target: Target, readings: readonly Reading[]): Promise<readonly string[]> {
  const faults: string[] = []
  for (const { request, answer: before } of readings) {
    const after = await send(target, request)
    const found =
      before.status === after.status ? differences(content(request, before), content(request, after)) : [statuses(before, after)]
    faults.push(...found.map((fault) => `GET ${request.path} reads otherwise: ${fault}`))
  }
  return faults
}

/** The part of an answer that must stay: the code of a refusal, the provider's request in the caller's name of an echo. */
function content(request: Request, answer: Answer): unknown {
  const json = parse(answer)
  if (answer.status !== 200) return (json as { error?: { code?: unknown } } | null)?.error?.code
  if (!isEcho(request)) return json ?? digest(answer.text)
  const { rawHeaders } = json as { rawHeaders: readonly string[] }
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 && kept.has(name.toLowerCase()) ? [`${name}: ${rawHeaders[at + 1]}`] : []))
}

const kept = new Set(['authorization', 'x-api-key', 'api-key', 'x-team'])

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

const statuses = (before: Answer, after: Answer) => `the status was ${before.status} and is ${after.status}: ${after.text.slice(0, 300)}`

/**
 * Sends the requests of a recording again, as an old client that does the same for another team: with another word in all names, and with the ids and
 * secrets of the present answers. Reports where an answer has another status or shape.
 */
export async function replay(target: Target, { exchanges, readings }: Recording): Promise<readonly string[]> {
  const faults: string[] = []
  const renamed = new Map<string, string>([[tokens.recorded, tokens.replayed]])
  const finalShapes = new Map(readings.map(({ request, answer }) => [keyOf(request), shapeOf(parse(answer))]))
  for (const exchange of exchanges) {
    const answer = await send(target, rename(exchange, renamed))
    const [was, is] = [parse(exchange.answer), parse(answer)]
    const final = finalShapes.get(keyOf(exchange))
    const found = describe(exchange, answer) ?? misfits(shapeOf(is), shapeOf(was), ...(final === undefined ? [] : [final]))
    faults.push(...found.map((fault) => `${exchange.method} ${exchange.path} sent again: ${fault}`))
    // Further entries of a list do not show which item stands for which.
    collect(was, is, renamed)
  }
  return faults
}

const keyOf = ({ method, headers, path }: Pick<Request, 'method' | 'headers' | 'path'>) => JSON.stringify([method, headers, path])

/** Differences outside the fields; null: none. */
function describe({ answer: before, headers }: Exchange, after: Answer): readonly string[] | null {
  if (before.status !== after.status) return [statuses(before, after)]
  if (before.type !== after.type) return [`the type was ${before.type} and is ${after.type}`]
  if (before.type === 'text/event-stream' && eventsOf(before) !== eventsOf(after))
    return [`the stream had ${eventsOf(before)} events and has ${eventsOf(after)}`]
  return isDataPlane({ headers }) && before.type !== 'application/json' ? [] : null
}

const eventsOf = ({ text }: Answer) => text.split('\n\n').length

/** The request with everything that the new installation calls otherwise. */
function rename({ method, path, headers, body, items }: Exchange, renamed: ReadonlyMap<string, string>): Request {
  const longestFirst = [...renamed].toSorted(([one], [other]) => other.length - one.length)
  const text = longestFirst.reduce((all, [old, now]) => all.replaceAll(old, now), JSON.stringify({ path, headers, body }))
  return { method, items, ...(JSON.parse(text) as Pick<Request, 'path' | 'headers' | 'body'>) }
}

/** Short words are no names: `gpt-4o` and `active` mean the same everywhere. */
const leastName = 8

const wordsOf = (text: string) => text.split(/[^\w-]+/)

/** Notes which words of an old answer are which of the new one: ids, slugs, secrets, also inside a link. */
function collect(was: unknown, is: unknown, renamed: Map<string, string>): void {
  if (typeof was === 'string' && typeof is === 'string') {
    const now = wordsOf(is)
    for (const [at, word] of wordsOf(was).entries()) if (word.length >= leastName && word !== now[at]) renamed.set(word, now[at] ?? word)
    return
  }
  if (typeof was !== 'object' || typeof is !== 'object' || was === null || is === null) return
  if (Array.isArray(was) && (!Array.isArray(is) || was.length !== is.length)) return
  for (const [name, value] of Object.entries(was)) collect(value, (is as Record<string, unknown>)[name], renamed)
}
