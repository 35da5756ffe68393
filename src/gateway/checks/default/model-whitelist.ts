import { z } from 'zod'
import { check, notField, verdict, type RequestFacts } from '../check.ts'

/** A list of models, as requests name them. */
export const modelsField = z.array(z.string().min(1).max(255)).min(1).max(1000)

/** Returns whether a model is in a list, with or without its provider. */
const isListed = (name: string, listed: ReadonlySet<string>): boolean => {
  const slash = name.startsWith('@') ? name.indexOf('/') : -1
  return listed.has(name) || (slash !== -1 && listed.has(name.slice(slash + 1)))
}

/**
 * The verdict on the models of a request: all of them must be in the list; with `not`, none may be. Throws when it names none: then there is no
 * verdict.
 */
export function judgedModels(request: RequestFacts, listed: ReadonlySet<string>, not: boolean) {
  const names = request.models()
  const [first] = names
  if (first === undefined) throw new Error('The request names no model.')
  const failing = names.find((name) => isListed(name, listed) === not)
  const found = isListed(failing ?? first, listed)
  return { passed: failing === undefined, explanation: `The model ${failing ?? first} is ${found ? '' : 'not '}in the list` }
}

/** Checks which models may be used. */
export const modelWhitelist = check({
  id: 'default.modelWhitelist',
  title: 'Model allowlist',
  about:
    'Passes when every model that the request names, in its body, a form or its path, is in the list; with `not`, when none is. A model is named with or without `@provider/`.',
  phases: ['input'],
  reads: 'request',
  fields: { models: modelsField.meta({ description: 'Names of models.' }), not: notField },
  ready({ models, not }) {
    const listed = new Set(models)
    return {
      judgesPrefix: false,
      run({ request }) {
        const { passed, explanation } = judgedModels(request, listed, not)
        return verdict(passed, `${explanation}.`, { not })
      },
    }
  },
})
