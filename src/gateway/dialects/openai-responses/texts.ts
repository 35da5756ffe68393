import type { Fields } from '../../../lib/json/fields.ts'
import type { DialectTexts } from '../dialect.ts'
import type { ExtractedTexts } from '../neutral/texts.ts'
import { turns } from '../texts/readers.ts'
import { responseEvent } from './events.ts'

function frame(json: Fields): ExtractedTexts | null {
  const { type } = json
  return typeof type === 'string' && type.startsWith('response.') ? responseEvent(json, type) : null
}

export const texts: DialectTexts = {
  system: ['instructions'],
  request: { input: turns },
  roles: { tools: 'system', text: 'system' },
  unheard: ['metadata'],
  answer: ['output'],
  speaks: true,
  frame,
  lastFrames: ['response.completed', 'response.incomplete', 'response.failed'],
}
