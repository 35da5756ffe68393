import { usePgvector } from '../../support/pgvector.ts'
import { trimAnswers } from '../../../src/features/cache/cache.jobs.ts'
import { eventually } from '../../support/eventually.ts'
import { verdictOf } from '../../support/preflight.ts'
import { declareSemanticTests, say, startSemanticBed, type SemanticBed, test } from './semantic-cache.ts'

const server = await usePgvector()

if ('missing' in server) {
  process.stdout.write(`SKIPPED: the semantic cache on a real pgvector. ${server.missing}\n`)
  test.skip(`the semantic cache on a real pgvector: ${server.missing}`, (t) => t.pass())
} else {
  let bed: SemanticBed
  test.before(async () => {
    bed = await startSemanticBed()
    // The login of the process may not make extensions: an operator does.
    await bed.control.sql.query('CREATE EXTENSION vector')
  })
  test.after.always(async () => {
    await bed?.stop()
    await server.stop()
  })

  declareSemanticTests('pgvector', () => bed)

  test.serial('a process starts on a database with vectors, whose rows no other tenant sees', async (t) => {
    const origin = await bed.control.openBeside()
    t.is((await fetch(`${origin}/readyz`)).status, 200)
    const { rows } = await bed.control.sql.query(
      `SELECT relpersistence, relforcerowsecurity FROM pg_class WHERE relname = 'answer_vectors'`,
    )
    t.deepEqual(rows, [{ relpersistence: 'u', relforcerowsecurity: true }])
  })

  test.serial('vectors of answers that are gone are deleted', async (t) => {
    const first = await bed.ask({ body: say('what goes with its answer') })
    const count = async () => (await bed.control.sql.query('SELECT FROM answer_vectors WHERE key = $1', [first.key])).rowCount
    await eventually(async () => (await count()) === 1, 5000, 'the vector')
    const answers = async () => (await bed.control.sql.query('SELECT FROM cached_answers WHERE key = $1', [first.key])).rowCount
    await eventually(async () => (await answers()) === 1, 5000, 'the answer')
    await bed.control.sql.query('DELETE FROM cached_answers WHERE key = $1', [first.key])
    await trimAnswers.run(bed.control.started.deps)
    t.is(await count(), 0)
  })

  test.serial('an embedding of another length, by the provider of one workspace, leaves the table of all as it is', async (t) => {
    const { ask, other, emulator, control } = bed
    const rows = async () => (await control.sql.query('SELECT FROM answer_vectors')).rowCount ?? 0
    const first = await ask({ body: say('why is the deep sea blue') })
    await eventually(async () => (await control.sql.query('SELECT FROM answer_vectors WHERE key = $1', [first.key])).rowCount === 1, 5000)
    const before = await rows()
    const end = emulator.script({ path: '/embeddings', behaviour: { body: JSON.stringify({ data: [{ embedding: [1, 0, 0] }] }) } })
    t.is((await ask({ key: other.workspaceKey, body: say('why is it blue') })).status, 200)
    end()
    t.is((await ask({ body: say('the deep sea is blue why') })).cache, 'SEMANTIC HIT')
    t.true((await rows()) >= before)
  })

  test.serial('a model of other dimensions takes the place of the former', async (t) => {
    const { rows } = await bed.control.sql.query('SELECT prepare_answer_vectors(3) AS support')
    t.is(rows[0]?.support, 'ready')
    t.is((await bed.control.sql.query('SELECT FROM answer_vectors')).rowCount, 0)
    t.is((await bed.ask({ body: say('what the former process asks now') })).status, 200)
  })

  test.serial('preflight says where vectors are', async (t) => {
    const { host, port, name, user, password } = bed.control.started.deps.config.database
    const env = {
      DB_HOST: host,
      DB_PORT: String(port),
      DB_NAME: name,
      DB_USER: user,
      DB_PASS: password?.reveal() ?? '',
      DB_SSL: 'DISABLED',
    }
    const on = { ...env, SEMANTIC_CACHE_EMBEDDING_PROVIDER: '@vectors' }
    t.is((await verdictOf('postgres-pgvector', env)).status, 'ok')
    t.regex((await verdictOf('postgres-pgvector', env)).detail ?? '', /off/)
    t.is((await verdictOf('postgres-pgvector', on)).status, 'ok')
    t.regex((await verdictOf('postgres-pgvector', on)).detail ?? '', /pgvector 0\.8/)
    await bed.control.sql.query('DROP EXTENSION vector CASCADE')
    t.is((await verdictOf('postgres-pgvector', on)).status, 'warn')
    t.regex((await verdictOf('postgres-pgvector', on)).fix ?? '', /CREATE EXTENSION vector/)
  })
}
