import { z } from 'zod'
import { compileSchema } from '../json-schema/compile.ts'
import { schemaFault } from '../json-schema/schema-fault.ts'
import { createCpuBudget } from '../../patterns/cpu-budget.ts'
import { check, notField, textOf, verdict } from '../check.ts'
import { demandComplete, jsonIn } from './json-in-text.ts'

const maxSchemaBytes = 64 * 1024

const schemaField = z
  .record(z.string(), z.unknown())
  .superRefine((schema, context) => {
    const fault = JSON.stringify(schema).length > maxSchemaBytes ? 'is larger than 64 KiB' : schemaFault(schema)
    if (fault !== null) context.addIssue({ code: 'custom', message: `The schema ${fault}.` })
  })
  .meta({ description: 'A JSON Schema; `$ref` within the schema only, patterns in RE2 syntax.' })

/** Checks whether JSON in the answer fits a schema. */
export const jsonSchema = check({
  id: 'default.jsonSchema',
  title: 'JSON schema',
  about: 'Passes when JSON in the answer (the whole of it, a fenced block, or an object in the text) fits the schema.',
  phases: ['output'],
  fields: { schema: schemaField, not: notField },
  ready({ schema, not }) {
    const validate = compileSchema(schema)
    return {
      judgesPrefix: false,
      run(subject) {
        const text = textOf(subject)
        const spend = createCpuBudget(text.length)
        const found = jsonIn(text, { everywhere: not })
        const faults = found.values.map((value) => validate(value, spend))
        const fits = faults.some((list) => list.length === 0)
        if (!fits) demandComplete(found)
        if (faults.length === 0) return verdict(false, 'There is no JSON in the answer.', { not })
        return verdict(fits !== not, `The JSON ${fits ? 'fits' : 'does not fit'} the schema.`, {
          not,
          validationErrors: fits ? [] : (faults[0] ?? []).slice(0, 20),
        })
      },
    }
  },
})
