// Each field of each body takes time in proportion to its bytes, whatever its schema and however many faults it has.
import test from 'ava'
import type { z } from 'zod'
import { features } from '../../../src/features/index.ts'
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
const groups = Object.groupBy([...routes, ...operations], ({ group }) => group)

for (const [group, bodies = []] of Object.entries(groups))
  test.serial(`each field of the bodies of ${group} is judged in proportion to its bytes`, (t) => {
    const within = mostMs * slowness()
    const slow = bodies.flatMap(({ name, schema }) =>
      ['', ...fieldsOf(schema)].flatMap((field) =>
        Object.entries(shapes).flatMap(([shape, value]) => {
          const ms = parseMs(schema, field === '' ? value : { [field]: value }, within)
          return ms > within ? [`${name} ${field}: ${shape} takes ${ms.toFixed(0)} ms`] : []
        }),
      ),
    )
    t.deepEqual(slow, [])
  })
