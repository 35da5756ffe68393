import type { Frame, StreamFraming } from '../dialects/codec.ts'
import { EventStreamReader } from '../wire/event-stream.ts'
import { LineReader } from '../wire/lines.ts'
import { SseReader, sseText } from '../wire/sse-events.ts'

/** Reads the frames of one stream. Null: they cannot be read. */
export interface FrameReader {
  push(chunk: Buffer): readonly Frame[] | null
  end(): readonly Frame[] | null
}

/** Returns true for the content types of streams. */
export const isStreamType = (contentType: string): boolean =>
  /^(?:text\/event-stream|application\/(?:vnd\.amazon\.eventstream|(?:(?:x-)?ndjson|jsonl)\b))/.test(contentType)

/** Returns the reader of a stream, by its content type; null when the answer is none. A provider may stream in another way than its dialect does. */
export function frameReader(_framing: StreamFraming, contentType: string): FrameReader | null {
  if (contentType.startsWith('application/vnd.amazon.eventstream')) return new EventStreamReader()
  if (/^application\/(?:(?:x-)?ndjson|jsonl)\b/.test(contentType)) return new LineReader()
  return contentType.startsWith('text/event-stream') ? new SseReader() : null
}

/** Writes the frames of one stream for a caller. */
export interface FrameWriter {
  readonly contentType: string
  write(frames: readonly Frame[]): string
  end(): string
}

/** Returns the writer of a stream as its caller reads it: server-sent events, or one JSON array that arrives in pieces. */
export const frameWriter = (framing: StreamFraming): FrameWriter => (framing === 'json-array' ? arrayWriter() : sseWriter)

const sseWriter: FrameWriter = {
  contentType: 'text/event-stream; charset=utf-8',
  write(frames) {
    let text = ''
    for (const frame of frames) text += sseText(frame)
    return text
  },
  end: () => '',
}

/** A blank line is the sign of life of an array, before it and within. */
function arrayWriter(): FrameWriter {
  let hasBegun = false
  return {
    contentType: 'application/json',
    write(frames) {
      let text = ''
      for (const { data } of frames) {
        if (data === null) {
          text += '\n'
          continue
        }
        text += `${hasBegun ? ',\n' : '['}${data}`
        hasBegun = true
      }
      return text
    },
    end: () => (hasBegun ? ']' : '[]'),
  }
}
