import { unescaped } from '../wire/segments.ts'
import { operations, type Operation, type OperationSpec } from './operations.ts'

/** The operation that a request asks for: a dedicated one, or the pass-through, where the path is the provider's own. */
export interface MatchedOperation {
  readonly name: Operation | 'proxy'
  readonly spec: OperationSpec | null
  /** Path parameters, as they came (still percent-encoded). */
  readonly params: Readonly<Record<string, string>>
}

interface Entry {
  readonly name: Operation
  readonly spec: OperationSpec
  readonly segments: readonly string[]
}

/** The operation of a request for none of the dedicated ones. */
export const passThrough: MatchedOperation = { name: 'proxy', spec: null, params: {} }
const fixed = new Map<string, MatchedOperation>()
const templates = new Map<string, Entry[]>()

for (const [name, spec] of Object.entries(operations)) if (isOperation(name)) index(name, spec)

export function isOperation(name: string): name is Operation {
  return Object.hasOwn(operations, name)
}

function index(name: Operation, spec: OperationSpec): void {
  if (!spec.path.includes('{')) {
    fixed.set(`${spec.method} ${spec.path}`, { name, spec, params: {} })
    return
  }
  const segments = spec.path.split('/').slice(1)
  const bucket = `${spec.method} ${segments.length}`
  templates.set(bucket, [...(templates.get(bucket) ?? []), { name, spec, segments }])
}

/** Matches a method and a path below `/v1` (without query). */
export function matchOperation(method: string, path: string): MatchedOperation {
  const exact = fixed.get(`${method} ${path}`)
  if (exact !== undefined) return exact
  const segments = path.split('/').slice(1)
  for (const entry of templates.get(`${method} ${segments.length}`) ?? []) {
    const params = bind(entry.segments, segments)
    if (params !== null) return { name: entry.name, spec: entry.spec, params }
  }
  return passThrough
}

/** A path as the most lenient of servers reads it, to find its operation; the path that is sent stays as it came. */
export function plainPath(path: string): string {
  const plain = unescaped(path)
    .replaceAll(/%2f|%5c|\\/gi, '/')
    .replaceAll(/\/{2,}/g, '/')
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
}

function bind(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {}
  for (const [i, expected] of pattern.entries()) {
    const actual = segments[i] ?? ''
    if (expected.startsWith('{')) {
      if (actual === '') return null
      params[expected.slice(1, -1)] = actual
    } else if (expected !== actual) return null
  }
  return params
}
