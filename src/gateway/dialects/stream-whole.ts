import { jsonOrUndefined } from '../../lib/json/json.ts'
import { cutFrames, dataOf } from '../wire/sse.ts'
import { frameTexts } from './frame-texts.ts'

/** The answer that the frames of an event stream add up to, as a chat with one choice for each text; null when they have no text. */
export function answerOfStream(text: string): unknown {
  const channels = new Map<string, string>()
  for (const frame of cutFrames(Buffer.from(text))) {
    const json = jsonOrUndefined(dataOf(frame))
    if (json === undefined) continue
    for (const said of frameTexts(json, null).texts)
      if (said.copyOf === null) channels.set(said.channel, (channels.get(said.channel) ?? '') + said.text)
  }
  if (channels.size === 0) return null
  const choices = [...channels.values()].map((content, index) => ({
    index,
    message: { role: 'assistant', content },
    finish_reason: 'stop',
  }))
  return { choices }
}
