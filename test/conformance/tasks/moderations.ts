import { judgesStrictly } from '../../support/dialects/strict-moderations.ts'
import { json } from '../../support/dialects/strict.ts'
import type { Lines } from '../talk.ts'
import { type Area, errorIn, plainError, type TaskAddress } from './area.ts'
import { openaiAt } from './clients.ts'

async function ask(address: TaskAddress, input: string | string[]): Promise<Lines> {
  const { results } = await openaiAt(address).moderations.create({ model: address.model, input })
  return results.map(({ flagged, categories }) => `${flagged} hate ${categories.hate}`)
}

export const moderations: Area = {
  title: 'Moderations',
  tasks: ['moderation'],
  unable: 'google',
  serve: (received) =>
    received.url.startsWith('/openai')
      ? json({
          id: 'm',
          model: 'm',
          results: [received.json['input']].flat().map((one) => ({ flagged: one === 'bad', categories: { hate: one === 'bad' } })),
        })
      : judgesStrictly(received),
  clients: {
    openai: {
      title: "OpenAI's moderations",
      refusedAs: '/moderations',
      cases: {
        'a text': { ask: (address) => ask(address, 'bad'), heard: ['bad'], said: ['true hate true'] },
        'several texts': {
          ask: (address) => ask(address, ['good', 'bad']),
          heard: ['good', 'bad'],
          said: ['false hate false', 'true hate true'],
        },
      },
    },
  },
  providers: {
    openai: { title: 'OpenAI', row: 'openai', base: '/openai', model: 'omni-moderation-latest', format: null, error: plainError },
    mistral: {
      title: 'Mistral',
      row: 'mistral-ai',
      base: '/mistral',
      model: 'mistral-moderation-latest',
      format: 'moderations/mistral',
      error: errorIn('message'),
    },
  },
  departures: [],
}
