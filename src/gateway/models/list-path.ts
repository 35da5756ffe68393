import { modelListPaths } from '../dialects/model-lists.ts'
import { operations } from '../operations/operations.ts'
import type { Provider } from '../providers/provider.ts'

/**
 * Returns the path at which a provider lists its models, beside its operations. Null: it has none that can be read, as where the model stands in the
 * path. The lists of clouds show the models that can be deployed, not the deployed ones.
 */
export function listPathOf({ api, speaks, variants, lists }: Provider): string | null {
  if (lists !== undefined) return lists.path
  const path = modelListPaths[api] ?? null
  const [first] = speaks
  if (path === null || variants !== undefined) return null
  if (first === undefined) return path
  const own = operations[first.operation].path
  const prefix = first.path.endsWith(own) ? first.path.slice(0, -own.length) : '{'
  const isShared = speaks.every((one) => one.path === prefix + operations[one.operation].path)
  return isShared && !prefix.includes('{') ? prefix + path : null
}
