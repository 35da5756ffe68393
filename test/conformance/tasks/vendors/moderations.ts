import { mistralAt, type VendorProofs } from './clients.ts'

export const moderations: VendorProofs = {
  mistral: [
    {
      title: 'a judgement',
      async ask(origin) {
        const { results } = await mistralAt(origin).classifiers.moderate({ model: 'mistral-moderation-latest', inputs: ['good', 'bad'] })
        return results.map(({ categories }) => String(categories?.['hate_and_discrimination']))
      },
      said: ['false', 'true'],
    },
  ],
}
