import type { Frame, Framing } from '../dialects/codec.ts'
import { SseReader, sseText } from '../wire/sse-events.ts'

/** Reads the frames of one stream. Null: they cannot be read. */
export interface FrameReader {
  push(chunk: Buffer): readonly Frame[] | null
  end(): readonly Frame[] | null
}

/** Returns what reads a stream, by its content type; null when the answer is none. A provider may stream in another way than its dialect does. */
export function frameReader(_framing: Framing, contentType: string): FrameReader | null {
  return contentType.startsWith('text/event-stream') ? new SseReader() : null
}

/** Writes frames for a caller. */
export const writeFrames = (_framing: Framing, frames: readonly Frame[]): string => {
  let text = ''
  for (const frame of frames) text += sseText(frame)
  return text
}
