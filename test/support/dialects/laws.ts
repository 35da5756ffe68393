import assert from 'node:assert/strict'
import type { AnswerContext, Codec, Frame } from '../../../src/gateway/dialects/codec.ts'
import { noMemory } from '../../../src/gateway/dialects/codec.ts'
import type { NeutralAnswer } from '../../../src/gateway/dialects/neutral/answer.ts'
import type { NeutralEvent } from '../../../src/gateway/dialects/neutral/events.ts'
import { emptyRequest } from '../../../src/gateway/dialects/neutral/request.ts'
import { plainTraits } from '../../../src/gateway/dialects/traits.ts'
import type { DialectId } from '../../../src/gateway/dialects/dialect.ts'

/** A context with the dialect of the caller only. */
export const contextFor = (dialect: DialectId, rest: Partial<AnswerContext> = {}): AnswerContext => ({
  request: { ...emptyRequest(dialect), streamUsage: true },
  memory: noMemory,
  requestId: 'request-1',
  now: 1_760_000_000,
  model: 'some-model',
  traits: plainTraits,
  ...rest,
})

/** Reads the frames of a stream, of which only the first so many may have come. */
export function readStream(codec: Codec, frames: readonly Frame[], context: AnswerContext, count = frames.length): readonly NeutralEvent[] {
  const decoder = codec.stream.decoder(context)
  return [...frames.slice(0, count).flatMap((frame) => decoder.frame(frame)), ...decoder.end()]
}

/** Writes events as the frames of a stream. */
export function writeStream(codec: Codec, events: readonly NeutralEvent[], context: AnswerContext): readonly Frame[] {
  const encoder = codec.stream.encoder(context)
  return events.flatMap((event) => encoder.event(event))
}

/** Blocks of one choice follow each other, each with its end, and no event comes after the end or an error. */
export function assertOrder(events: readonly NeutralEvent[]): void {
  const open = new Set<number>()
  let over = false
  for (const event of events) {
    assert.ok(!over, `nothing follows the end, but ${event.type} did`)
    if (event.type === 'block-start') {
      assert.ok(!open.has(event.choice), 'a block begins while another is open')
      open.add(event.choice)
    } else if (event.type === 'block-end') assert.ok(open.delete(event.choice), 'a block ends that did not begin')
    else if (event.type === 'delta') assert.ok(open.has(event.choice), 'a piece of no block')
    else if (event.type === 'finish') assert.ok(!open.has(event.choice), 'a choice finishes within a block')
    over = event.type === 'end' || event.type === 'error'
  }
}

/** A stream that was cut anywhere before its last frame but one never ends as a whole one, and its received events are in order. */
export function assertCuts(codec: Codec, frames: readonly Frame[], context: AnswerContext, whole: number): void {
  for (let count = 0; count <= frames.length; count += 1) {
    const events = readStream(codec, frames, context, count)
    assertOrder(events)
    assert.equal(
      events.some(({ type }) => type === 'end'),
      count >= whole,
      `cut after ${count} of ${frames.length} frames`,
    )
  }
}

/** The content of an answer, without the names of its dialect and its own words for counts. */
export const saidBy = ({ choices, usage }: NeutralAnswer) => ({
  choices: choices.map(({ blocks, finish }) => ({
    blocks: blocks.map(({ block, text, end }) => ({ block, text, end })),
    finish: finish?.reason ?? null,
  })),
  usage: usage && { ...usage, own: null },
})
