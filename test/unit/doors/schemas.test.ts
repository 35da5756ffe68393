// Each field of each body takes time in proportion to its bytes, whatever its schema and however many faults it has.
import test from 'ava'
import { z } from 'zod'
import { features } from '../../../src/features/index.ts'
import { gatewayConfig } from '../../../src/gateway/config/config.schema.ts'
import { bodySchemas } from '../../../src/gateway/bounds/validate.ts'
import { parseGiven } from '../../../src/lib/json/parse-given.ts'
import { slowness } from '../../support/machine.ts'

const bytes = 64 * 1024
/** A field of so many bytes takes so many milliseconds at most, on a machine of the usual speed: 0.4 s for a mebibyte. */
const mostMs = 25

/** Some machines count processor time in steps of so many milliseconds. */
const tickMs = 4

const repeated = (unit: string): unknown => JSON.parse(`[${Array.from({ length: bytes / (unit.length + 1) }, () => unit).join(',')}]`)
const record = (value: string): unknown =>
  JSON.parse(`{${Array.from({ length: bytes / (value.length + 11) }, (_, at) => `"${1_000_000 + at}":${value}`).join(',')}}`)

const shapes: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(['1', '{}', '""', '"a"', '[]'].map((unit) => [`a list of ${unit}`, repeated(unit)])),
  ...Object.fromEntries(['1', '"a"'].map((value) => [`an object of ${value}`, record(value)])),
  'a long text': 'a,'.repeat(bytes / 2),
  'lists in lists': JSON.parse(`${'['.repeat(200)}${repeatedText()}${']'.repeat(200)}`),
}

function repeatedText(): string {
  return JSON.stringify(repeated('{}'))
}

/** Returns the names of the fields of an object, of a union of objects, or of the input of a pipe. */
function fieldsOf(schema: z.core.$ZodType): readonly string[] {
  const {
    shape,
    options,
    innerType,
    in: input,
    element,
  } = schema._zod.def as {
    readonly shape?: object
    readonly options?: readonly z.core.$ZodType[]
    readonly innerType?: z.core.$ZodType
    readonly in?: z.core.$ZodType
    readonly element?: z.core.$ZodType
  }
  if (shape !== undefined) return Object.keys(shape)
  if (options !== undefined) return [...new Set(options.flatMap(fieldsOf))]
  const inner = innerType ?? input ?? element
  return inner === undefined ? [] : fieldsOf(inner)
}

/** Returns the milliseconds of a parse, the least of a few: of the clock, or of the processor where others had it meanwhile. */
function parseMs(schema: z.ZodType, value: unknown, within: number): number {
  let best = Infinity
  for (let run = 0; run < 5 && best > within; run += 1) {
    const [start, before] = [performance.now(), process.threadCpuUsage()]
    parseGiven(schema, value)
    const { user, system } = process.threadCpuUsage(before)
    best = Math.min(best, performance.now() - start, (user + system) / 1000 + tickMs)
  }
  return best
}

const routes = features.flatMap(({ id, routes: own }) =>
  own.flatMap(({ method, path, body }) => (body === undefined ? [] : [{ group: id, name: `${method} ${path}`, schema: body }])),
)
const operations = Object.entries(bodySchemas).map(([name, schema]) => ({ group: 'the data plane', name, schema }))
const bodies = [...routes, ...operations]
const groups = Object.groupBy(bodies, ({ group }) => group)

for (const [group, some = []] of Object.entries(groups))
  test.serial(`each field of the bodies of ${group} is judged in proportion to its bytes`, (t) => {
    const within = mostMs * slowness()
    const slow = some.flatMap(({ name, schema }) =>
      ['', ...fieldsOf(schema)].flatMap((field) =>
        Object.entries(shapes).flatMap(([shape, value]) => {
          const ms = parseMs(schema, field === '' ? value : { [field]: value }, within)
          return ms > within ? [`${name} ${field}: ${shape} takes ${ms.toFixed(0)} ms`] : []
        }),
      ),
    )
    t.deepEqual(slow, [])
  })

const mebibyte = 1024 * 1024
const manyOf = (unit: string): unknown => JSON.parse(`[${Array.from({ length: mebibyte / (unit.length + 1) }, () => unit).join(',')}]`)
const fieldsWith = (value: string, count = mebibyte / (value.length + 11)): unknown =>
  JSON.parse(`{${Array.from({ length: count }, (_, at) => `"${1_000_000 + at}":${value}`).join(',')}}`)
const bodyOf = (name: string): z.ZodType => {
  const found = bodies.find((one) => one.name === name)
  if (found === undefined) throw new Error(`There is no ${name}.`)
  return found.schema
}

/** Bodies of a mebibyte, whose faults zod goes on after: of bounds, of values of records, behind valid ones. */
const faulty: Readonly<Record<string, readonly [schema: () => z.ZodType, value: unknown]>> = {
  'values of a record beyond a bound': [() => bodyOf('complete'), { model: 'm', prompt: 'a', logit_bias: fieldsWith('1e9') }],
  'values of a record of another type': [() => bodyOf('complete'), { model: 'm', prompt: 'a', logit_bias: fieldsWith('""') }],
  'texts that are too short in a list': [() => bodyOf('promptComplete'), { variables: {}, messages: manyOf('{"role":""}') }],
  'metadata without end': [() => bodyOf('createModelResponse'), { model: 'm', input: 'a', metadata: fieldsWith('1') }],
  'metadata of a workspace': [() => bodyOf('POST /admin/workspaces'), { name: 'x', defaults: { metadata: fieldsWith('1') } }],
  'fields of a guardrail': [() => gatewayConfig, { input_guardrails: [fieldsWith('1', 50_000)] }],
  'checks of limits': [() => z.array(z.string().min(2)), manyOf('""')],
  'a fault behind valid items': [() => z.array(z.array(z.string().min(2))), [manyOf('"ab"'), manyOf('""')]],
  'lists in a record': [() => z.record(z.string(), z.array(z.number().max(5))), fieldsWith('[9,9,9]')],
  'a union of lists': [
    () => z.union([z.array(z.number().max(1)), z.array(z.string().max(1)), z.array(z.unknown()).max(4)]),
    manyOf('"ab"'),
  ],
}
for (const [name, [schema, value]] of Object.entries(faulty))
  test.serial(`a body is judged up to its first faults: ${name}`, (t) => {
    const within = 150 * slowness()
    const ms = parseMs(schema(), value, within)
    t.true(ms <= within, `${ms.toFixed(0)} ms`)
    const { success, error } = parseGiven(schema(), value)
    t.false(success)
    t.true((error?.issues.length ?? 0) >= 1 && (error?.issues.length ?? 0) <= 100)
  })

const items = (count: number, last: unknown) => [...Array.from({ length: count }, () => ({ a: 'ab' })), last]

test('more faults than a call has arguments are faults', (t) => {
  t.false(parseGiven(gatewayConfig, { input_guardrails: [fieldsWith('1', 145_000)] }).success)
})

test('values are judged alike, be they short or long', (t) => {
  const list = z.array(z.object({ a: z.string().min(2), b: z.number().default(7) }))
  for (const count of [0, 31, 32, 33, 5000]) {
    t.deepEqual(parseGiven(list, items(count, { a: 'cd', b: 1 })), {
      success: true,
      data: [...Array.from({ length: count }, () => ({ a: 'ab', b: 7 })), { a: 'cd', b: 1 }],
    })
    t.deepEqual(
      parseGiven(list, items(count, { a: 'c' })).error?.issues.map(({ path }) => path),
      [[count, 'a']],
    )
    const pairs = z.record(z.string().min(2), z.array(z.number()))
    const given = (last: unknown) => Object.fromEntries(items(count, last).map((_, at) => [`k${at}`, at === count ? last : [at]]))
    t.deepEqual(parseGiven(pairs, given([1])), { success: true, data: given([1]) })
    t.deepEqual(
      parseGiven(pairs, given(['x'])).error?.issues.map(({ path }) => path),
      [[`k${count}`, 0]],
    )
    t.deepEqual(
      parseGiven(pairs, { ...given([1]), k: [] }).error?.issues.map(({ path }) => path),
      [['k']],
    )
  }
  const listed = z.record(z.enum(Array.from({ length: 40 }, (_, at) => `k${at}`)), z.number())
  const all = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`k${at}`, at]))
  t.deepEqual(parseGiven(listed, all), { success: true, data: all })
})
