import { usePgvector } from '../../support/pgvector.ts'
import { declareSemanticTests, startSemanticBed, type SemanticBed, test } from './semantic-cache.ts'

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
}
