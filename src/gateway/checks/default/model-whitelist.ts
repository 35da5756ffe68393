import { z } from 'zod'
import { check, notField, verdict, type RequestFacts } from '../check.ts'

/** A list of models, as requests name them. */
export const modelsField = z.array(z.string().min(1).max(255)).min(1).max(1000)

/** The model that a request names. Throws when it names none: then nothing can be said of it. */
export function modelNames({ model }: RequestFacts): readonly string[] {
  if (model === null) throw new Error('The request names no model.')
  const slash = model.startsWith('@') ? model.indexOf('/') : -1
  return slash === -1 ? [model] : [model, model.slice(slash + 1)]
}

/** Which models may be used. */
export const modelWhitelist = check({
  id: 'default.modelWhitelist',
  title: 'Model allowlist',
  about: 'Passes when the model of the request is in the list; with `not`, when it is not. A model is named with or without `@provider/`.',
  phases: ['input'],
  reads: 'request',
  fields: { models: modelsField.meta({ description: 'Names of models.' }), not: notField },
  ready({ models, not }) {
    const listed = new Set(models)
    return {
      judgesPrefix: false,
      run({ request }) {
        const found = modelNames(request).some((name) => listed.has(name))
        return verdict(found !== not, `The model ${request.model} is ${found ? '' : 'not '}in the list.`, { not })
      },
    }
  },
})
