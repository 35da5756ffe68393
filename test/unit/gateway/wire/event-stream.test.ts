import test from 'ava'
import { type EventStreamMessage, eventStreamMessage, EventStreamReader } from '../../../../src/gateway/wire/event-stream.ts'

const event = (type: string, payload: string) =>
  eventStreamMessage({ ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, payload)
const bytes = Buffer.concat([
  event('messageStart', '{"role":"assistant"}'),
  event('contentBlockDelta', '{"delta":{"text":"Grüße"}}'),
  eventStreamMessage({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '{"message":"slow"}'),
  eventStreamMessage({ ':message-type': 'error', ':error-code': 'Internal', ':error-message': 'oh' }, ''),
])
const messages: readonly EventStreamMessage[] = [
  { name: 'messageStart', data: '{"role":"assistant"}' },
  { name: 'contentBlockDelta', data: '{"delta":{"text":"Grüße"}}' },
  { name: 'exception:throttlingException', data: '{"message":"slow"}' },
  { name: 'exception:Internal', data: '{"message":"oh"}' },
]

test('messages of a binary event stream are read, however the bytes are cut', (t) => {
  t.deepEqual(new EventStreamReader().push(bytes), messages)
  const single = new EventStreamReader()
  t.deepEqual(
    [...bytes].flatMap((byte) => single.push(Buffer.from([byte])) ?? []),
    messages,
  )
  t.deepEqual(single.end(), [])
  for (let cut = 1; cut < bytes.length; cut += 1) {
    const reader = new EventStreamReader()
    t.deepEqual([...(reader.push(bytes.subarray(0, cut)) ?? []), ...(reader.push(bytes.subarray(cut)) ?? [])], messages)
  }
})

test('the frame of AWS for an empty payload is read as it stands in its description', (t) => {
  const empty = Buffer.from('000000100000000005c248eb7d98c8ff', 'hex')
  t.deepEqual(new EventStreamReader().push(empty), [{ name: null, data: '' }])
})

test('vercel#19040, #18996: a byte that was changed, or bytes that end within a message, are no end', (t) => {
  const message = event('messageStop', '{"stopReason":"end_turn"}')
  for (let at = 0; at < message.length; at += 1) {
    const damaged = Buffer.from(message)
    damaged.writeUInt8(damaged.readUInt8(at) ^ 0x01, at)
    const reader = new EventStreamReader()
    const read = reader.push(damaged)
    t.true(read === null || (read.length === 0 && reader.end() === null), `byte ${at}`)
    if (read === null) t.is(reader.push(message), null)
  }
  const cut = new EventStreamReader()
  t.deepEqual(cut.push(message.subarray(0, -1)), [])
  t.is(cut.end(), null)
})

test('a message of an impossible length is refused before its bytes are held', (t) => {
  const reader = new EventStreamReader()
  const prelude = Buffer.from(event('a', '{}').subarray(0, 12))
  prelude.writeUInt32BE(0x7fffffff, 0)
  t.is(reader.push(prelude), null)
})
