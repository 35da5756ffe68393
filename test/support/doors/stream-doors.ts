import { splitLines } from '../../../src/gateway/batches/split-lines.ts'
import { eventStreamMessage, EventStreamReader } from '../../../src/gateway/wire/event-stream.ts'
import { JsonPlaces } from '../../../src/gateway/wire/json-places.ts'
import { LineReader } from '../../../src/gateway/wire/lines.ts'
import { placeTree } from '../../../src/gateway/wire/place-tree.ts'
import { SseReader } from '../../../src/gateway/wire/sse-events.ts'
import { SsePlaces } from '../../../src/gateway/wire/sse-places.ts'
import { cutFrames, FrameCutter } from '../../../src/gateway/wire/sse.ts'
import { type Door, type Feed, inPieces, repeated } from './door.ts'

interface Reader {
  push(chunk: Buffer): unknown
  end(): unknown
}

const socketBytes = 64 * 1024

/** The texts that cost a reader of lines most, whole as a socket gives them and byte by byte. */
const lineShapes = (reader: () => Reader): Door['shapes'] => {
  const texts = {
    'one long line': (bytes: number) => repeated('x', bytes),
    'one long line of data': (bytes: number) => `data: ${repeated('é', bytes / 2)}`,
    'line ends alone': (bytes: number) => repeated('\n', bytes),
    'carriage returns alone': (bytes: number) => repeated('\r', bytes),
    'lines of data without end': (bytes: number) => repeated('data:\n', bytes),
    'comments alone': (bytes: number) => repeated(':\n\n', bytes),
    'a long line behind carriage returns': (bytes: number) => repeated('\r', bytes / 2) + repeated('x', bytes / 2),
  }
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) =>
      [1, socketBytes].map((size) => [`${name}, ${size} bytes at a time`, (bytes: number) => feedTo(reader, text(bytes), size)]),
    ),
  )
}

function feedTo(open: () => Reader, bytes: string | Buffer, size: number): Feed {
  const all = Buffer.from(bytes)
  return () => {
    const reader = open()
    inPieces(all, size, (piece) => void reader.push(piece))
    reader.end()
  }
}

const frameCutter = (): Reader => {
  const cutter = new FrameCutter()
  return { push: (chunk) => cutter.push(chunk), end: () => cutter.rest() }
}

const lineSplitter = (): Reader => {
  const lines = splitLines(() => {})
  return { push: (chunk) => lines.add(chunk), end: () => lines.end() }
}

const places = () => new JsonPlaces(placeTree({ id: 'id', 'a[*].b': 'b', 'c!': 'c' }), { value() {}, opens() {}, closes() {}, ends() {} })

/** The texts that cost a reader of some places of JSON most. */
const placeShapes: Door['shapes'] = Object.fromEntries(
  Object.entries({
    'brackets that open': (bytes: number) => repeated('[', bytes),
    'objects that open': (bytes: number) => repeated('{"a":', bytes),
    'places within places': (bytes: number) => repeated('{"a":[', bytes),
    'many items': (bytes: number) => `{"a":[${repeated('{"b":"x"},', bytes)}{}]}`,
    'many roots': (bytes: number) => repeated('{"id":1}', bytes),
    'one long value': (bytes: number) => `{"id":"${repeated('x', bytes)}"}`,
    'quotes in a value': (bytes: number) => `{"id":"${repeated(String.raw`\"`, bytes)}"}`,
    'backslashes in a value': (bytes: number) => `{"id":"${repeated('\\\\', bytes)}"}`,
    'one long key': (bytes: number) => `{"${repeated('x', bytes)}":1}`,
    'one long number': (bytes: number) => `{"id":${repeated('1', bytes)}}`,
    'lines of strings without end': (bytes: number) => repeated(`data: {"x${'y'.repeat(40)}\n`, bytes),
    'lines of values': (bytes: number) => repeated('data: {"id":"x"}\n\n', bytes),
    'data without end': (bytes: number) => repeated('data:', bytes),
  }).flatMap(([name, text]) =>
    [1, socketBytes].flatMap((size) => [
      [`${name}, ${size} bytes at a time`, (bytes: number) => feedTo(wholePlaces, text(bytes), size)],
      [`${name} in events, ${size} bytes at a time`, (bytes: number) => feedTo(eventPlaces, text(bytes), size)],
    ]),
  ),
)

function wholePlaces(): Reader {
  const reader = places()
  return { push: (chunk) => reader.feed(chunk, 0, chunk.length), end() {} }
}

function eventPlaces(): Reader {
  const reader = new SsePlaces(places())
  return { push: (chunk) => reader.push(chunk), end() {} }
}

const messageShapes: Door['shapes'] = {
  'one long message, byte by byte': (bytes) =>
    feedTo(() => new EventStreamReader(), eventStreamMessage({ ':event-type': 'chunk' }, repeated('x', bytes)), 1),
  'one long message': (bytes) =>
    feedTo(() => new EventStreamReader(), eventStreamMessage({ ':event-type': 'chunk' }, repeated('x', bytes)), socketBytes),
  'many short messages': (bytes) => {
    const one = eventStreamMessage({}, '')
    return feedTo(
      () => new EventStreamReader(),
      Buffer.concat(Array.from({ length: Math.round(bytes / one.length) }, () => one)),
      socketBytes,
    )
  },
  'many headers': (bytes) => {
    const count = Math.min(120 * 1024, bytes) / 8
    const one = eventStreamMessage(
      Object.fromEntries(Array.from({ length: Math.round(count) }, (_, at) => [`h${at.toString(36)}`, ''])),
      '',
    )
    return feedTo(
      () => new EventStreamReader(),
      Buffer.concat(Array.from({ length: Math.ceil(bytes / one.length) }, () => one)),
      socketBytes,
    )
  },
}

/** The readers of streams. */
export const streamDoors: readonly Door[] = [
  { name: 'server-sent events', shapes: lineShapes(() => new SseReader()) },
  { name: 'a stream of lines', shapes: lineShapes(() => new LineReader()) },
  { name: 'the frames of a stream that goes on as it is', shapes: lineShapes(frameCutter) },
  { name: 'the lines of a file of answers', shapes: lineShapes(lineSplitter) },
  { name: 'messages of AWS', shapes: messageShapes },
  { name: 'some places of an answer', shapes: placeShapes },
  {
    name: 'the frames of a held stream',
    shapes: {
      'blank lines alone': (bytes) => () => cutFrames(Buffer.from(repeated('\r\n', bytes))),
      'one long frame': (bytes) => () => cutFrames(Buffer.from(repeated('data: x\r', bytes))),
    },
  },
]
