import test from 'ava'
import { logColumns } from '../../../../src/app/journal/columns.ts'
import { logFields } from '../../../../src/features/logs/log-fields.ts'

/** Columns that no field shows alone, and why. */
const shownOtherwise: Readonly<Record<string, string>> = {
  path: 'a part of request_url',
  usage: 'counts that the API has no field for',
}

test('every fact in the table of logs is shown by a field of the API, or it is said why not', (t) => {
  const shown = new Set<string | null>(Object.values(logFields).map(({ column }) => column))
  const missing = logColumns.map(({ name }) => name).filter((name) => !shown.has(name))
  t.deepEqual(missing.toSorted(), Object.keys(shownOtherwise).toSorted())
})
