import { hash } from 'node:crypto'
import { JsonWriter } from './json-writer.ts'
import { namesInOrder } from './names-in-order.ts'

/** JSON with the keys of every object in order: equal values give equal texts, also after a detour through a jsonb column. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child) ? inOrder(child) : child,
  )
}

function inOrder(value: object): object {
  const names = Object.keys(value)
  const ordered = namesInOrder(value)
  return ordered.every((name, at) => name === names[at])
    ? value
    : Object.fromEntries(ordered.map((name) => [name, Reflect.get(value, name)]))
}

const writer = new JsonWriter({ isOrdered: true })

/** Returns the SHA-256 of a value as JSON with the keys of every object in order, as base64url. No text is made of it. */
export function canonicalHash(value: unknown): string {
  writer.reset()
  writer.value(value)
  return hash('sha256', writer.bytes.subarray(0, writer.end), 'base64url')
}
