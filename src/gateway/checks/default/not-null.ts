import { check, notField, textOf, verdict } from '../check.ts'

/** Checks whether there is any text at all. */
export const notNull = check({
  id: 'default.notNull',
  title: 'Not empty',
  about: 'Passes when there is some text, not only spaces.',
  phases: ['output'],
  reads: 'request',
  fields: { not: notField },
  ready: ({ not }) => ({
    judgesPrefix: false,
    run(subject) {
      const said = textOf(subject).trim() !== ''
      return verdict(said !== not, said ? 'There is a text.' : 'There is no text.', { not })
    },
  }),
})
