import test from 'ava'
import { readMigrations } from '../../../../../src/app/database/schema/migration-files.ts'
import { splitStatements } from '../../../../../src/app/database/schema/sql-statements.ts'

const splits = test.macro((t, sql: string, expected: readonly [line: number, text: string][]) => {
  t.deepEqual(
    splitStatements(sql).map(({ line, text }) => [line, text]),
    expected.map(([line, text]) => [line, text]),
  )
})

test('two statements', splits, 'SELECT 1;\nSELECT 2;', [
  [1, 'SELECT 1'],
  [2, 'SELECT 2'],
])
test('the last semicolon may be missing', splits, 'SELECT 1', [[1, 'SELECT 1']])
test('nothing but comments', splits, '-- a;\n/* b; */\n', [])
test('line of the first word', splits, '-- why\n\n  SELECT\n1;\n\n\nSELECT 2;', [
  [3, 'SELECT\n1'],
  [7, 'SELECT 2'],
])
test('semicolon in a string', splits, `SELECT 'a;''b;';SELECT 2`, [
  [1, `SELECT 'a;''b;'`],
  [1, 'SELECT 2'],
])
test('semicolon in an escape string', splits, String.raw`SELECT E'a\';b';SELECT 2`, [
  [1, String.raw`SELECT E'a\';b'`],
  [1, 'SELECT 2'],
])
test('a backslash in a plain string escapes nothing', splits, String.raw`SELECT '\';SELECT 2`, [
  [1, String.raw`SELECT '\'`],
  [1, 'SELECT 2'],
])
test('semicolon in a name', splits, 'SELECT ";";SELECT 2', [
  [1, 'SELECT ";"'],
  [1, 'SELECT 2'],
])
test('semicolon in comments', splits, 'SELECT 1 -- a;b\n+ /* c;d */ 2;SELECT 3', [
  [1, 'SELECT 1 -- a;b\n+ /* c;d */ 2'],
  [2, 'SELECT 3'],
])
test('dollar quotes, named and not, one in the other', splits, 'DO $$ BEGIN a; END $$;DO $x$ $$;$$; $x$;SELECT $1', [
  [1, 'DO $$ BEGIN a; END $$'],
  [1, 'DO $x$ $$;$$; $x$'],
  [1, 'SELECT $1'],
])
test('an apostrophe in a comment opens no string', splits, "SELECT 1; -- it's\nSELECT 2;", [
  [1, 'SELECT 1'],
  [2, 'SELECT 2'],
])

test('every statement of the migrations begins with a word of SQL', async (t) => {
  for (const { id, statements } of await readMigrations()) {
    t.true(statements.length > 0, id)
    for (const { text } of statements) t.regex(text, /^(CREATE|ALTER|COMMENT|DO|INSERT|UPDATE|DROP|GRANT|REVOKE|SELECT|WITH)\b/, id)
  }
})
