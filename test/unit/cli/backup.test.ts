import { Readable } from 'node:stream'
import test from 'ava'
import { compareRows } from '../../../src/cli/backup/compare.ts'
import { countCopied } from '../../../src/cli/backup/dump-rows.ts'

const long = 'x'.repeat(300_000)
const script = [
  'SET row_security = on;',
  'COPY public.logs_20260102 (id, "odd name") FROM stdin;',
  `1\t${long}`,
  '2\tCOPY public.other (id) FROM stdin;',
  '3\tINSERT INTO public.other',
  '\\.',
  '',
  'COPY public."Odd, table" (id) FROM stdin;',
  '\\.',
  "SELECT pg_catalog.setval('public.seq', 1, true);",
  '-- PostgreSQL database dump complete',
  '',
].join('\n')

for (const [what, size] of [
  ['whole', script.length],
  ['in pieces of one byte', 1],
  ['in pieces that end within lines', 1000],
] as const)
  test(`the rows of a script are the lines of its COPY blocks: read ${what}`, async (t) => {
    const pieces = Array.from({ length: Math.ceil(script.length / size) }, (_, at) => Buffer.from(script.slice(at * size, (at + 1) * size)))
    const counts = await countCopied(Readable.from(pieces))
    t.deepEqual(
      [...counts],
      [
        ['public.logs_20260102', 3],
        ['public."Odd, table"', 0],
      ],
    )
  })

test('a script that cannot be counted is refused', async (t) => {
  await t.throwsAsync(countCopied(Readable.from([Buffer.from("INSERT INTO public.logs VALUES ('a');\n")])), { message: /--inserts/ })
  await t.throwsAsync(countCopied(Readable.from([Buffer.from('COPY public.logs (id) FROM stdin;\n1\n')])), {
    message: /ends within the rows of public\.logs/,
  })
  const rows = 'COPY public.logs (id) FROM stdin;\n-- PostgreSQL database dump complete\n\\.\n'
  await t.throwsAsync(countCopied(Readable.from([Buffer.from(rows)])), { message: /lacks its last line/ })
})

const table = (name: string, rows: number, parent: string | null = null) => ({ table: `public.${name}`, parent, rows })

const cases: readonly (readonly [
  what: string,
  dump: Readonly<Record<string, number>>,
  exact: readonly string[],
  loose: readonly string[],
])[] = [
  ['all the same', { 'public.users': 10, 'public.logs_20260101': 8, 'public.changes': 4 }, [], []],
  [
    'a table without rows',
    { 'public.users': 10, 'public.logs_20260101': 0, 'public.changes': 4 },
    ['public.logs_20260101'],
    ['public.logs_20260101'],
  ],
  ['a table that is left out', { 'public.logs_20260101': 8, 'public.changes': 4 }, ['public.users'], ['public.users']],
  ['the rows of one tenant', { 'public.users': 4, 'public.logs_20260101': 8, 'public.changes': 4 }, ['public.users'], ['public.users']],
  [
    'a few rows less',
    { 'public.users': 9, 'public.logs_20260101': 7, 'public.changes': 0 },
    ['public.users', 'public.logs_20260101', 'public.changes'],
    [],
  ],
  [
    'a day that was deleted since',
    { 'public.users': 10, 'public.logs_20251231': 5, 'public.logs_20260101': 8, 'public.changes': 4 },
    ['public.logs_20251231'],
    [],
  ],
]
for (const [what, dump, exact, loose] of cases)
  test(`a dump is compared with a database: ${what}`, (t) => {
    const database = [table('users', 10), table('logs_20260101', 8, 'public.logs'), table('changes', 4)]
    const faults = (isExact: boolean) =>
      compareRows(new Map(Object.entries(dump)), database, { exact: isExact })
        .filter(({ fault }) => fault !== null)
        .map((each) => each.table)
    t.deepEqual(faults(true), [...exact])
    t.deepEqual(faults(false), [...loose])
  })

test('a day that is missing is newer than the dump only behind its last day', (t) => {
  const days = ['01', '02', '03', '04'].map((day) => table(`logs_202601${day}`, 5, 'public.logs'))
  const faultsOf = (...dumped: readonly string[]) =>
    compareRows(new Map(dumped.map((day) => [`public.logs_202601${day}`, 5])), days, { exact: false })
      .filter(({ fault }) => fault !== null)
      .map((each) => each.table)
  t.deepEqual(faultsOf('01', '02', '03'), [])
  t.deepEqual(faultsOf('01', '03'), ['public.logs_20260102'])
  t.deepEqual(faultsOf('04'), ['public.logs_20260101', 'public.logs_20260102', 'public.logs_20260103'])
  t.is(faultsOf().length, 4)
})
