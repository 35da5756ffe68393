import test from 'ava'
import { z } from 'zod'
import { knownFields } from '../../../src/lib/json/known-fields.ts'
import { schemaFaults } from '../../../src/lib/json/schema-faults.ts'

const inner = z.strictObject({ aws_region: z.string().optional(), aws_role_arn: z.string().optional() })
const schema = z.strictObject({
  name: z.string().optional(),
  usage_limits: z.array(inner).optional(),
  either: z.union([inner, z.strictObject({ credit_limit: z.number().optional() })]).optional(),
  piped: inner.nullable().default(null),
  named: z.record(z.string(), inner).optional(),
})

test('the fields of an object are known behind wrappers, lists, records and unions', (t) => {
  t.deepEqual(knownFields(schema, []), ['name', 'usage_limits', 'either', 'piped', 'named'])
  t.deepEqual(knownFields(schema, ['usage_limits', 0]), ['aws_region', 'aws_role_arn'])
  t.deepEqual(knownFields(schema, ['either']), ['aws_region', 'aws_role_arn', 'credit_limit'])
  t.deepEqual(knownFields(schema, ['piped']), ['aws_region', 'aws_role_arn'])
  t.deepEqual(knownFields(schema, ['named', 'x']), ['aws_region', 'aws_role_arn'])
  t.deepEqual(knownFields(schema, ['nobody', 'x']), [])
})

for (const [given, says] of [
  [{ nmae: 'x' }, 'there is no such field, did you mean `name`?'],
  [{ usage_limit: [] }, 'there is no such field, did you mean `usage_limits`?'],
  [{ piped: { region: 'eu' } }, 'there is no such field, did you mean `aws_region`?'],
  [{ colour: 'red' }, 'there is no such field'],
  [{ ['x'.repeat(5000)]: 1 }, 'there is no such field'],
] as const)
  test(`an unknown field: ${JSON.stringify(given).slice(0, 40)}`, (t) => {
    const { error } = schema.safeParse(given)
    if (error === undefined) return t.fail()
    return t.is(schemaFaults(error, { value: given, whole: 'body', schema })[0]?.message, says)
  })
