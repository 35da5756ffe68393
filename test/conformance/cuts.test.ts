import test from 'ava'
import fc from 'fast-check'
import { frameReader } from '../../src/gateway/answers/framing.ts'
import { clientCodecOf, codecOf, providerCodecOf } from '../../src/gateway/dialects/codecs.ts'
import type { DialectId } from '../../src/gateway/dialects/dialect.ts'
import { foldEvents } from '../../src/gateway/dialects/neutral/answer.ts'
import type { Frame } from '../../src/gateway/dialects/codec.ts'
import type { NeutralEvent } from '../../src/gateway/dialects/neutral/events.ts'
import { assertOrder, contextFor, readStream, saidBy } from '../support/dialects/laws.ts'
import type { Received } from '../support/emulator/emulator.ts'
import { dialectProviders, providers } from './sides/index.ts'
import type { ProviderId, Say } from './talk.ts'

/** Streams of every provider, as bytes: cut at every byte they are never whole, and no damage makes a reader fail. */
const numRuns = process.env['NIGHTLY'] === '1' ? 20_000 : 300

const say: Say = {
  thought: { text: 'Paris is in France.', signature: 'c2lnbmVk' },
  text: 'Sun ☀ in Paris.',
  calls: [
    { id: 'call_1', name: 'weather', args: { city: 'Paris' } },
    { id: 'call_2', name: 'time', args: {} },
  ],
  stop: 'tool-calls',
  counts: { input: 20, cached: 8, output: 7, thought: 3 },
}
const asked = { url: '?alt=sse', headers: { host: 'localhost' }, json: { stream_options: { include_usage: true } } } as unknown as Received

const others: Readonly<Partial<Record<ProviderId, DialectId>>> = {
  vertex: 'google',
  'azure-ai': 'openai-chat',
  'oracle-cohere': 'oracle',
}
const dialectOf = (id: ProviderId): DialectId => others[id] ?? (id as DialectId)

const contextAt = (id: ProviderId) => ({ ...contextFor(dialectOf(id)), model: providers[id].model })

interface Bytes {
  readonly bytes: Buffer
  readonly type: string
}

function bytesOf(id: ProviderId): Bytes {
  const { body, bodyBase64, headers } = providers[id].side.stream(say, asked)
  return {
    bytes: bodyBase64 === undefined ? Buffer.from(body ?? '') : Buffer.from(bodyBase64, 'base64'),
    type: String(headers?.['content-type']),
  }
}

/** Reads bytes in pieces as the data plane does; damage that the framing notices ends it. */
function read(id: ProviderId, pieces: readonly Buffer[], type: string): readonly NeutralEvent[] {
  const codec = providerCodecOf(dialectOf(id))
  const reader = codec && frameReader(codec.framing, type)
  if (codec === null || reader === null || reader === undefined) throw new Error(`${id} has no reader`)
  const decoder = codec.stream.decoder(contextAt(id))
  const events: NeutralEvent[] = []
  for (const piece of pieces) {
    const frames = reader.push(piece)
    if (frames === null) return events
    for (const frame of frames) events.push(...decoder.frame(frame))
  }
  const last = reader.end()
  if (last === null) return events
  for (const frame of last) events.push(...decoder.frame(frame))
  return [...events, ...decoder.end()]
}

const isWhole = (events: readonly NeutralEvent[]) => events.some(({ type }) => type === 'end')

/** Reads frames as they are. */
function readFrames(id: ProviderId, frames: readonly Frame[]): readonly NeutralEvent[] {
  const decoder = providerCodecOf(dialectOf(id))?.stream.decoder(contextAt(id))
  if (decoder === undefined) throw new Error(`${id} has no reader`)
  return [...frames.flatMap((frame) => decoder.frame(frame)), ...decoder.end()]
}

function framesOf(id: ProviderId, { bytes, type }: Bytes): readonly Frame[] {
  const reader = frameReader(providerCodecOf(dialectOf(id))?.framing ?? 'sse', type)
  return [...(reader?.push(bytes) ?? []), ...(reader?.end() ?? [])]
}

/** The events as a client reads them; completions, which no decoder reads back, by their end mark. */
function toldTo(client: DialectId, events: readonly NeutralEvent[]): { readonly isWhole: boolean; readonly choices: unknown } {
  const codec = codecOf(client)
  const context = contextFor(client)
  const encoder = clientCodecOf(client)?.stream.encoder(context)
  const frames = events.flatMap((event) => encoder?.event(event) ?? [])
  if (codec === null) return { isWhole: frames.some(({ data }) => data === '[DONE]'), choices: isWhole(events) }
  const heard = readStream(codec, frames, context)
  assertOrder(heard)
  return { isWhole: isWhole(heard), choices: saidBy(foldEvents(heard)).choices }
}

const clients: readonly DialectId[] = ['openai-chat', 'openai-responses', 'anthropic', 'google', 'completions']

/** Fields that a provider may add tomorrow. */
const unknownEvent: Frame = { name: 'an-event-of-tomorrow', data: JSON.stringify({ type: 'an_event_of_tomorrow', more: { a: 1 } }) }
const withUnknownField = (text: string): string => (text.startsWith('{') ? `{"a_field_of_tomorrow":{"a":[1]},${text.slice(1)}` : text)

for (const id of dialectProviders) {
  const { bytes, type } = bytesOf(id)

  test(`${id}: a stream that is cut at any byte is never whole unless all was said`, (t) => {
    const all = read(id, [bytes], type)
    t.true(isWhole(all))
    for (let cut = 0; cut < bytes.length; cut += 1) {
      const events = read(id, [bytes.subarray(0, cut)], type)
      assertOrder(events)
      if (isWhole(events)) t.deepEqual(foldEvents(events).choices, foldEvents(all).choices, `whole after ${cut} of ${bytes.length} bytes`)
    }
  })

  test(`${id}: no client takes a stream that is cut for a whole one`, (t) => {
    const frames = framesOf(id, { bytes, type })
    for (const client of clients) {
      const all = toldTo(client, readFrames(id, frames))
      t.true(all.isWhole, client)
      for (let count = 0; count < frames.length; count += 1) {
        const told = toldTo(client, readFrames(id, frames.slice(0, count)))
        if (told.isWhole) t.deepEqual(told.choices, all.choices, `${client}: whole after ${count} of ${frames.length} frames`)
      }
    }
  })

  test(`${id}: a stream in pieces of any size says the same, its usage too (44: envoy#2162)`, (t) => {
    const whole = read(id, [bytes], type)
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        const pieces = at.slice(1).map((to, index) => bytes.subarray(at[index], to))
        t.deepEqual(read(id, pieces, type), whole)
      }),
      { numRuns: Math.min(numRuns, 1000) },
    )
  })

  test(`${id}: an event or a field that nobody knows changes nothing, in streams and in whole answers`, (t) => {
    const frames = framesOf(id, { bytes, type })
    const told = foldEvents(readFrames(id, frames))
    for (let at = 0; at < frames.length; at += 1)
      t.deepEqual(foldEvents(readFrames(id, frames.toSpliced(at, 0, unknownEvent))), told, `before frame ${at}`)
    const more = frames.map(({ name, data }) => ({ name, data: data === null ? null : withUnknownField(data) }))
    t.deepEqual(foldEvents(readFrames(id, more)), told)
    const whole = providers[id].side.whole(say, asked).body ?? ''
    const decode = (text: string) => providerCodecOf(dialectOf(id))?.answer.decode(JSON.parse(text), contextAt(id)) ?? []
    t.true(isWhole(decode(whole)))
    t.deepEqual(decode(withUnknownField(whole)), decode(whole))
  })

  test(`${id}: no damage to its bytes makes a reader fail, or a cut stream whole`, (t) => {
    const damage = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(damage, fc.nat(bytes.length), (changes, length) => {
        const damaged = Buffer.from(bytes)
        for (const [at, byte] of changes) damaged[at] = byte
        const events = read(id, [damaged.subarray(0, length)], type)
        assertOrder(events)
        if (length < bytes.length / 2) t.false(isWhole(events))
      }),
      { numRuns },
    )
  })
}
