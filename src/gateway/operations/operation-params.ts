import { operations } from './operations.ts'

/** The names of all path parameters of the dedicated operations: `file_id`, `batch_id` ... */
export const operationParams: ReadonlySet<string> = new Set(
  Object.values(operations).flatMap(({ path }) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)),
)
