import { check, notField, textOf, verdict } from '../check.ts'

const caseCheck = (id: string, { name, toCase }: { readonly name: string; readonly toCase: (text: string) => string }) =>
  check({
    id,
    title: `All ${name}`,
    about: `Passes when every letter is ${name}.`,
    fields: { not: notField },
    ready: ({ not }) => ({
      judgesPrefix: !not,
      reachesBack: 1,
      run(subject) {
        const text = textOf(subject)
        const all = text === toCase(text)
        return verdict(all !== not, `The text is ${all ? '' : 'not '}all ${name}.`, { not })
      },
    }),
  })

/** Checks whether all letters are upper case. */
export const allUppercase = caseCheck('default.alluppercase', { name: 'upper case', toCase: (text) => text.toUpperCase() })

/** Checks whether all letters are lower case. */
export const allLowercase = caseCheck('default.alllowercase', { name: 'lower case', toCase: (text) => text.toLowerCase() })
