// The page on backups is followed on an installation with request logs of several days, and the restored rows are counted.
import path from 'node:path'
import test from 'ava'
import { countRows } from '../../../src/app/database/row-counts.ts'
import { inDatabase } from '../../support/database.ts'
import { debianPostgres } from '../../support/debian-postgres.ts'
import { documentBlocks } from '../../support/document-blocks.ts'
import { runBlocks } from '../../support/document-run.ts'
import { openStage } from '../../support/document-stage.ts'

const page = path.resolve(import.meta.dirname, '../../../docs/operations/backup-and-restore.md')
const bin = debianPostgres()
const blocks = documentBlocks(page).filter(({ needs }) => needs.includes('pg_dump'))

const someLogs = `
  SELECT ensure_log_partitions((now() AT TIME ZONE 'UTC')::date - n) FROM generate_series(0, 3) n;
  SELECT ensure_answer_partition(now());
  INSERT INTO logs (id, organisation_id, created_at, api_key_id, client_ip, method, path, operation, status, outcome, stream, duration_ms, usage_source,
      retry_count, cache_status, trace_id, request_bytes, response_bytes)
    SELECT gen_random_uuid(), o.id, now() - (n % 4) * interval '1 day', gen_random_uuid(), '::1', 'POST', '/v1/chat/completions', 'chat', 200, 'complete', false, 1,
      'none', 0, 'none', 'trace', 1, 1 FROM organisations o, generate_series(1, 400) n;
  INSERT INTO log_bodies (id, organisation_id, created_at, request_headers, response_headers, request_body, request_truncated, response_truncated)
    SELECT id, organisation_id, created_at, '{}', '{}', 'a body with a
line', false, false FROM logs;
  INSERT INTO log_words (id, organisation_id, created_at, words) SELECT id, organisation_id, created_at, '{1}' FROM logs;
  INSERT INTO cached_answers (key, organisation_id, namespace, created_at, expires_at, answer) SELECT 'key', id, '', now(), now(), '' FROM organisations;`

const title = 'a backup made as the page says has every row of every table, and a dump that lacks a partition is found'
if (bin === null) test.skip(`SKIPPED ${title}: this machine has no PostgreSQL of its own, with a pg_dump of its version`, (t) => t.pass())
else
  test(title, async (t) => {
    const stage = await openStage({ bin, embedded: false })
    t.teardown(() => stage.stop())
    const superuser = { host: stage.env['DB_HOST'], port: Number(stage.env['DB_PORT']), user: 'postgres', database: stage.env['DB_NAME'] }
    await inDatabase(superuser, (client) => client.query(someLogs))
    const { code, output } = await runBlocks(blocks, stage)
    t.is(code, 0, output.slice(-4000))

    const restored = await inDatabase({ ...superuser, database: 'gatehouse_restored' }, countRows)
    const rowsOf = (parent: string) =>
      restored.filter((table) => table.parent === `public.${parent}`).reduce((sum, { rows }) => sum + rows, 0)
    t.deepEqual(['logs', 'log_bodies', 'log_words', 'cached_answers'].map(rowsOf), [400, 400, 400, 1])

    const today = await inDatabase(superuser, (client) =>
      client.query<{ name: string }>(`SELECT 'logs_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS name`),
    )
    const partition = today.rows[0]?.name ?? ''
    await inDatabase(superuser, (client) => client.query(`DROP POLICY whole ON ${partition}`))
    const [dumping, verifying] = blocks.map(({ commands }) => commands).filter((commands) => /pg_dump|backup verify \S+$/m.test(commands))
    const lacking = await runBlocks(
      [dumping, verifying].map((commands, line) => ({ commands: commands ?? '', line, needs: [], output: null })),
      stage,
    )
    t.is(lacking.code, 1)
    t.regex(
      lacking.output,
      new RegExp(`WRONG +public.${partition}: 0 rows in the dump, 100 in the database \\(the dump has none of its rows\\)`),
    )
  })
