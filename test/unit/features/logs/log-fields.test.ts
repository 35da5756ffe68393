import test from 'ava'
import { logColumns } from '../../../../src/app/journal/columns.ts'
import { logFields, type LogRow, urlOf } from '../../../../src/features/logs/log-fields.ts'

/** Columns that no field shows alone, and why. */
const shownOtherwise: Readonly<Record<string, string>> = {
  budgets: '`budgets` in GET /logs/{logId}/cost',
  attempts_made: '`count` of `attempts`',
  options_tried: '`attempts` in GET /logs/{logId}',
  path: 'a part of request_url',
  price_catalogue: '`catalogue` in GET /logs/{logId}/cost',
  saved_pico: '`lines` in GET /logs/{logId}/cost',
  usage: 'counts that the API has no field for',
}

test('every fact in the table of logs is shown by a field of the API, or it is said why not', (t) => {
  const shown = new Set<string | null>(Object.values(logFields).map(({ column }) => column))
  const missing = logColumns.map(({ name }) => name).filter((name) => !shown.has(name))
  t.deepEqual(missing.toSorted(), Object.keys(shownOtherwise).toSorted())
})

const urls: readonly (readonly [operation: string, path: string, url: string])[] = [
  ['chatComplete', '/chat/completions', '/v1/chat/completions'],
  ['proxy', '/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
  ['inserted', 'https://api.example/v1beta/x', 'https://api.example/v1beta/x'],
]

for (const [operation, path, url] of urls)
  test(`the URL of ${path} is shown as the caller sent it`, (t) => {
    t.is(urlOf({ operation, path } as LogRow), url)
  })
