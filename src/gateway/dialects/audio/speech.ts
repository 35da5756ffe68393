import type { Fields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { neededText, numberIn, textIn, unreadable } from '../reading.ts'
import type { TaskContext, TaskTranslation } from '../tasks/task.ts'
import type { SpeechRequest } from './neutral.ts'
import { speechProviders } from './speech-providers.ts'

/** Clients ask as OpenAI is asked. */
export const speechClients: Readonly<Record<string, true>> = { audio: true }

const known = new Set(['model', 'input', 'voice', 'response_format', 'speed', 'instructions'])
const formats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']
/** Voices stand in paths, and in names of models. */
const voiceName = /^\w[\w -]{0,127}$/

function decode(body: Fields): SpeechRequest {
  const [voice, format, speed] = [neededText(body, 'voice'), textIn(body, 'response_format'), numberIn(body, 'speed')]
  if (!voiceName.test(voice)) throw unreadable('voice', 'the name of a voice: letters, digits, blanks, _ and -')
  if (format !== null && !formats.includes(format)) throw unreadable('response_format', formats.join(', '))
  if (speed !== null && !(speed >= 0.25 && speed <= 4)) throw unreadable('speed', 'from 0.25 to 4')
  return { text: neededText(body, 'input'), voice, format, speed, instructions: textIn(body, 'instructions') }
}

/** Translates a request to speak. Throws `invalid_request`. */
export function translateSpeech(
  { to, body }: { readonly to: string; readonly body: Fields },
  context: TaskContext,
): TaskTranslation | null {
  const provider = speechProviders[to]
  if (provider === undefined) return null
  const request = decode(body)
  for (const name of Object.keys(unread(body, known))) context.loss.dropAt(name)
  return { ...provider(request, context), loss: context.loss }
}
