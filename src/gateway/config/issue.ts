import type { z } from 'zod'
import { pathText } from '../../lib/json/json-path.ts'

/** The first fault of a config: where it is, as a JSON path below `config`, and what it is. */
export function firstFault(error: z.ZodError): { readonly path: string; readonly message: string } {
  const [issue] = error.issues
  return issue === undefined ? { path: 'config', message: 'unknown fault' } : describe(issue, ['config'])
}

function describe(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): { readonly path: string; readonly message: string } {
  const path = [...above, ...issue.path]
  if (issue.code === 'unrecognized_keys') return { path: pathText([...path, ...issue.keys.slice(0, 1)]), message: 'there is no such field' }
  if (issue.code === 'invalid_union') {
    const nearest = issue.errors.toSorted((one, other) => depth(other) - depth(one))[0]?.[0]
    if (nearest !== undefined && nearest.path.length > 0) return describe(nearest, path)
  }
  return { path: pathText(path), message: issue.message }
}

/** How far into the value a branch of a union got before it failed. */
const depth = (issues: readonly z.core.$ZodIssue[]): number => Math.max(0, ...issues.map(({ path }) => path.length))
