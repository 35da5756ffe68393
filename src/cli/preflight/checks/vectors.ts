import { ok, warn, type Check } from '../check.ts'

interface Extension {
  readonly made: string | null
  readonly available: string | null
  readonly enough: boolean | null
}

const inMemory = 'the semantic cache compares texts in the memory of each process'

/** Reports where the semantic cache keeps its vectors. */
export const vectorsCheck: Check = {
  id: 'postgres-pgvector',
  about:
    'With the semantic cache (`SEMANTIC_CACHE_EMBEDDING_PROVIDER`), whether PostgreSQL has the extension pgvector 0.8 or later. Without it Gatehouse compares texts in memory, where each process has its own and a restart forgets them.',
  remedy: 'Install pgvector on the server, run `CREATE EXTENSION vector` in the database as its administrator, and restart Gatehouse.',
  quick: false,
  async run(stage) {
    if (stage.settings().semantic === null) return ok('the semantic cache is off (SEMANTIC_CACHE_EMBEDDING_PROVIDER is not set)')
    const { client } = await stage.database()
    const { rows } = await client.query<Extension>(find)
    const { made, available, enough } = rows[0] ?? { made: null, available: null, enough: null }
    if (made !== null && enough === true) return ok(`the semantic cache uses pgvector ${made}`)
    if (made !== null)
      return warn(`pgvector ${made} is too old: ${inMemory}`, 'Install pgvector 0.8 or later and run: ALTER EXTENSION vector UPDATE')
    if (available !== null)
      return warn(
        `the database lacks the extension pgvector ${available}, which the server has: ${inMemory}`,
        'Run as an administrator of the database: CREATE EXTENSION vector',
      )
    return ok(`PostgreSQL has no pgvector: ${inMemory}`)
  },
}

const find = `
  SELECT e.extversion AS made, (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available,
    string_to_array(substring(e.extversion FROM '^\\d+\\.\\d+'), '.')::int[] >= '{0,8}' AS enough
    FROM (VALUES (1)) one LEFT JOIN pg_extension e ON e.extname = 'vector'`
