import type { Fields } from '../../../lib/json/fields.ts'
import { saidFields, saidText } from '../reading.ts'
import type { NextStep, Steps } from '../steps.ts'

const id = (json: Fields): string | null => {
  const named = saidText(json, 'id')
  return named !== null && /^[\w-]{1,200}$/.test(named) ? named : null
}

const running: ReadonlySet<string> = new Set(['starting', 'processing'])
const isRunning = (json: Fields): boolean => running.has(saidText(json, 'status') ?? '')

/** The first waits are short, since small models are quick. */
const waits = [250, 250, 500, 500, 1000] as const
const longestWait = 2000

const json = 'application/json'

function poll(prediction: Fields, step: number): NextStep | null {
  const named = id(prediction)
  return named === null ? null : { at: { path: `/predictions/${named}` }, accept: json, afterMs: waits[step] ?? longestWait }
}

const cancelPath = (prediction: Fields): string | null => {
  const named = id(prediction)
  return named === null || !isRunning(prediction) ? null : `/predictions/${named}/cancel`
}

const afterStream = (prediction: Fields): NextStep | null => poll(prediction, 0)

const hosts = /(?:^|\.)replicate\.(?:com|delivery|net)$/

const streamOf = (prediction: Fields): string | null => saidText(saidFields(prediction, 'urls') ?? {}, 'stream')

/** replicate.com/docs/topics/predictions: a prediction is asked for until it has ended. */
export const untilEnded: Steps = {
  next: (prediction, step) => (isRunning(prediction) ? poll(prediction, step) : null),
  cancelPath,
  afterStream,
  hosts,
}

/** replicate.com/docs/topics/predictions/streaming: a model's text comes from an address of its own; counts stand in the prediction. */
export const asStream: Steps = {
  ...untilEnded,
  next(prediction, step) {
    const url = streamOf(prediction)
    if (url === null) return untilEnded.next(prediction, step)
    return { at: { url }, accept: 'text/event-stream', afterMs: 0 }
  },
}

/** The same for a model's pictures, whose bytes are at an address of their own. */
export const withBytes: Steps = {
  ...untilEnded,
  next(prediction, step) {
    const [url] = saidText(prediction, 'status') === 'succeeded' ? urlsOf(prediction) : []
    if (url === undefined || url.startsWith('data:')) return untilEnded.next(prediction, step)
    return { at: { url }, accept: '*/*', afterMs: 0 }
  },
}

/** Returns the addresses that a prediction gives as its output. */
export function urlsOf({ output }: Fields): readonly string[] {
  const list: readonly unknown[] = Array.isArray(output) ? output : [output]
  return list.filter((one) => typeof one === 'string' && /^(?:https?:\/\/|data:image\/)/.test(one)).map(String)
}
