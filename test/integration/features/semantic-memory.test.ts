import { declareSemanticTests, startSemanticBed, type SemanticBed, test } from './semantic-cache.ts'

let bed: SemanticBed

test.before(async () => {
  bed = await startSemanticBed()
})
test.after.always(() => bed?.stop())

declareSemanticTests('memory', () => bed)

test('a server without pgvector has no table for vectors, and needs none', async (t) => {
  const { rows } = await bed.control.sql.query(`SELECT to_regclass('answer_vectors') AS name, prepare_answer_vectors(3) AS support`)
  t.deepEqual(rows, [{ name: null, support: 'missing' }])
})
