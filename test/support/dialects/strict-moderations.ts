import { z } from 'zod'
import type { Behaviour } from '../emulator/behaviour.ts'
import type { Received } from '../emulator/emulator.ts'
import { firstFault, json } from './strict.ts'

const ofMistral = z.strictObject({ model: z.string(), input: z.array(z.string()).min(1) })
const result = (hate: boolean) => ({
  categories: { hate_and_discrimination: hate, sexual: false, pii: false },
  category_scores: { hate_and_discrimination: hate ? 0.9 : 0.1, sexual: 0.1, pii: 0 },
})

/** Judges texts as strictly as Mistral does: `bad` is hate. */
export function judgesStrictly({ json: body }: Received): Behaviour {
  const read = ofMistral.safeParse(body)
  if (!read.success) return json({ object: 'error', message: firstFault(read.error) }, 422)
  return json({ id: 'mod-1', model: read.data.model, results: read.data.input.map((text) => result(text === 'bad')) })
}
