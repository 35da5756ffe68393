import { readForm } from '../../../src/gateway/wire/form.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import type { Fact } from './area.ts'

/** Returns every value of a request: those of its path, its query, its JSON or its form. */
export function factsOf({ url, headers, json, body }: Received): readonly unknown[] {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const type = headers['content-type'] ?? ''
  const form = type.startsWith('multipart/') ? (readForm(body, type) ?? []) : []
  return [
    ...pathname.split('/').map((segment) => decodeURIComponent(segment)),
    ...searchParams.values(),
    ...leavesOf(json),
    ...form.map(({ text, start, end }) => text ?? body.toString('base64', start, end)),
    body.toString('base64'),
  ]
}

function leavesOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.values(value).flatMap((one) => leavesOf(one))
}

/** Returns true if one of the values is the fact. A number may stand in a form or a query, as text. */
export const gets = (values: readonly unknown[], fact: Fact): boolean =>
  values.some((value) => (fact instanceof RegExp ? typeof value === 'string' && fact.test(value) : String(value) === String(fact)))
