import { withoutQueryKeys, withoutUrlCredentials } from '../../gateway/ports/records.ts'
import { isCredentialHeader } from '../../gateway/ports/headers.ts'

/** Attributes as plain JSON. */
export type Attributes = Readonly<Record<string, unknown>>

const most = { attributes: 128, characters: 32_768, depth: 8 } as const
const removed = '[removed]'

interface KeyValue {
  readonly key: string
  readonly value?: unknown
}

/** Returns the attributes by their names, the last of a name, and how many were left out because there are too many. */
export function toAttributes(pairs: readonly KeyValue[], depth = 0): { readonly attributes: Attributes; readonly dropped: number } {
  const kept = pairs.slice(0, most.attributes)
  const entries = kept.map(({ key, value }) => [key.slice(0, 255), plainOf(key, value, depth)] as const)
  return { attributes: Object.fromEntries(entries), dropped: pairs.length - kept.length }
}

function plainOf(key: string, value: unknown, depth: number): unknown {
  if (holdsCredential(key)) return removed
  const plain = toPlain(value, depth)
  return typeof plain === 'string' && key.endsWith('url.query') ? withoutQueryKeys(plain) : plain
}

/** `http.request.header.authorization` and its kind: instrumentation can be configured to record headers. */
const holdsCredential = (key: string): boolean => {
  const name = key
    .slice(key.lastIndexOf('.') + 1)
    .toLowerCase()
    .replaceAll('_', '-')
  return isCredentialHeader(name)
}

/** Returns the plain value of an `AnyValue`. Long texts are cut. */
function toPlain(value: unknown, depth: number): unknown {
  if (depth > most.depth || typeof value !== 'object' || value === null) return null
  const [[type, held] = []] = Object.entries(value)
  if (type === 'stringValue' || type === 'bytesValue') return cut(String(held))
  if (type === 'boolValue') return held === true
  if (type === 'intValue' || type === 'doubleValue') return toNumber(held)
  if (type === 'arrayValue') return valuesOf(held).map((item) => toPlain(item, depth + 1))
  if (type === 'kvlistValue') return toAttributes(valuesOf(held).filter(isPair), depth + 1).attributes
  return null
}

const isPair = (value: unknown): value is KeyValue =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'key') === 'string'

function valuesOf(list: unknown): readonly unknown[] {
  const values: unknown = typeof list === 'object' && list !== null ? Reflect.get(list, 'values') : null
  return Array.isArray(values) ? values.slice(0, most.attributes) : []
}

/** A whole number that JavaScript cannot hold stays a text. */
function toNumber(held: unknown): number | string | null {
  const number = Number(held)
  if (!Number.isFinite(number)) return cut(String(held))
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? cut(String(held)) : number
}

/** Instrumentation notes URLs whole, with the logins and keys that stand in them. */
const cut = (text: string): string => withoutUrlCredentials(text.length <= most.characters ? text : text.slice(0, most.characters))

/** Returns the first attributes that fit into so many bytes of JSON, and how many do not. */
export function fitting(attributes: Attributes, bytes: number): { readonly attributes: Attributes; readonly dropped: number } {
  let left = bytes
  const all = Object.entries(attributes)
  const kept = all.filter(([name, value]) => {
    const size = Buffer.byteLength(JSON.stringify({ [name]: value }))
    if (size > left) return false
    left -= size
    return true
  })
  return { attributes: Object.fromEntries(kept), dropped: all.length - kept.length }
}
