import { type StoredBounds, storedKinds } from '../lib/stored-kinds.ts'
import type { Config } from './config.ts'
import type { StoredBound } from './limit-settings.ts'

interface Values {
  readonly STORED_ITEMS_MAX: readonly StoredBound[]
  readonly KEPT_RESPONSES_STORED_IN_MB: number
  readonly TRACE_SPANS_STORED_IN_MB: number
  readonly FILES_STORED_IN_MB: number
  readonly FILES_OF_WORKSPACE_STORED_IN_MB: number
  readonly BATCH_LINES_AT_ONCE: number
}

/** The bounds of the rows that organisations store. */
export const storedOf = (
  values: Values,
): Pick<Config, 'storedItems' | 'storedResponseBytes' | 'storedSpanBytes' | 'storedFileBytes' | 'batchLinesAtOnce'> => ({
  storedItems: itemsOf(values.STORED_ITEMS_MAX),
  storedResponseBytes: values.KEPT_RESPONSES_STORED_IN_MB,
  storedSpanBytes: values.TRACE_SPANS_STORED_IN_MB,
  storedFileBytes: { organisation: values.FILES_STORED_IN_MB, workspace: values.FILES_OF_WORKSPACE_STORED_IN_MB },
  batchLinesAtOnce: values.BATCH_LINES_AT_ONCE,
})

function itemsOf(given: readonly StoredBound[]): StoredBounds {
  const usual = Object.entries(storedKinds).map(([kind, { most }]) => [kind, most] as const)
  const bounds = Object.fromEntries([...usual, ...given.map(({ kind, most }) => [kind, most] as const)])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has an entry for each kind
  return bounds as StoredBounds
}
