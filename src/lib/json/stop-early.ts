import { z } from 'zod'

type Schema = z.core.$ZodType
type Parse = Schema['_zod']['parse']

/** So many items are looked at before the faults among them count. */
const few = 32

const prepared = new WeakSet<Schema>()

/**
 * Makes lists and records of a schema, and of all its parts, stop at the first faults when a parse has `abortEarly`. Zod does so for lists alone, and
 * there not for faults of checks, such as of a bound: a value of a million faults takes seconds, and throws where they are spread into arguments.
 */
export function stopEarly(root: Schema): void {
  const waiting = [root]
  for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
    if (prepared.has(schema)) continue
    prepared.add(schema)
    const { def } = schema._zod
    if (def.type === 'array') replaceParse(schema, inSlices)
    if (isOpenRecord(def)) replaceParse(schema, inTurn(def))
    waiting.push(...partsOf(def))
  }
}

function replaceParse({ _zod: inner }: Schema, bounded: (parse: Parse) => Parse): void {
  // oxlint-disable-next-line typescript/unbound-method -- zod calls them without `this`
  const { parse, run } = inner
  inner.parse = bounded(parse)
  // Without checks the two are one.
  // oxlint-disable-next-line typescript/unbound-method -- as above
  if (run === parse) inner.run = inner.parse
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && '_zod' in value

type RecordDef = Schema['_zod']['def'] & { readonly keyType: Schema; readonly valueType: Schema }

/** A record with listed keys demands all of them, and is short. */
const isOpenRecord = (def: Schema['_zod']['def']): def is RecordDef =>
  def.type === 'record' && 'keyType' in def && isSchema(def.keyType) && def.keyType._zod.values === undefined

function partsOf(def: Schema['_zod']['def']): readonly Schema[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of all kinds of schemas, each of which may be missing
  const { shape, getter } = def as { readonly shape?: object; readonly getter?: () => unknown }
  const members = [...Object.values(def).flat(), ...Object.values(shape ?? {}), ...(def.type === 'lazy' ? [getter?.()] : [])]
  return members.filter(isSchema)
}

const inSlices =
  (parse: Parse): Parse =>
  (payload, ctx) => {
    const { value } = payload
    if (ctx.abortEarly !== true || !Array.isArray(value) || value.length <= few) return parse(payload, ctx)
    const read: unknown[] = []
    for (let from = 0; from < value.length; from += few) {
      const part = synchronous(parse({ value: value.slice(from, from + few), issues: [] }, ctx))
      for (const { path: [at, ...rest] = [], ...issue } of part.issues)
        payload.issues.push({ ...issue, path: [Number(at) + from, ...rest] })
      if (part.issues.length > 0) return payload
      if (Array.isArray(part.value)) for (const item of part.value) read.push(item)
    }
    payload.value = read
    return payload
  }

const inTurn =
  ({ keyType, valueType }: RecordDef) =>
  (parse: Parse): Parse =>
  (payload, ctx) => {
    const { value } = payload
    if (ctx.abortEarly !== true || !z.core.util.isPlainObject(value)) return parse(payload, ctx)
    const read: Record<string, unknown> = {}
    for (const name of Object.keys(value)) {
      const key = synchronous(keyType._zod.run({ value: name, issues: [] }, ctx))
      const item = synchronous(valueType._zod.run({ value: value[name], issues: [] }, ctx))
      if (key.issues.length + item.issues.length > 0) {
        // Zod's own words for the fault, which may be none: a name of digits may stand for a number.
        const alone = synchronous(parse({ value: { [name]: value[name] }, issues: [] }, ctx))
        payload.issues.push(...alone.issues)
        if (alone.issues.length > 0) return payload
        Object.assign(read, alone.value)
      } else if (key.value !== '__proto__') read[String(key.value)] = item.value
    }
    payload.value = read
    return payload
  }

function synchronous<T>(result: T | Promise<T>): T {
  if (result instanceof Promise) throw new z.core.$ZodAsyncError()
  return result
}
