import type { Client } from 'pg'
import { runtimeOf } from '../../../app/database/connect.ts'
import { connectedAs, describePooler, hasPooler, isSplit } from '../../../app/database/pooler.ts'
import { fail, ok, type Check, type Verdict } from '../check.ts'
import { NotPossible } from '../not-possible.ts'
import type { ReachedDatabase } from '../stage.ts'

const direct = 'Set DB_HOST and DB_PORT to PostgreSQL itself; Gatehouse keeps its own pool (DB_POOL_SIZE).'

/** Checks that a pooler before PostgreSQL keeps a session together. */
export const poolingCheck: Check = {
  id: 'postgres-pooling',
  about:
    'No pooler in transaction mode stands before PostgreSQL. There a session has no memory: migrations cannot be locked, notifications get lost, and a limit set for one connection holds for another.',
  remedy: 'Set `DB_HOST` and `DB_PORT` to PostgreSQL itself, or to a pooler in session mode.',
  quick: false,
  async run(stage) {
    const reached = await stage.database()
    if (reached.config.embedded) return ok('the embedded PostgreSQL is reached directly')
    const pooler = await hasPooler(reached.client)
    if (await isSplit(reached.client, reached.login)) {
      const { name, mode } = await describePooler(reached.login)
      return fail(`${name ?? 'a connection pooler'} in ${mode ?? 'transaction or statement'} mode stands before PostgreSQL`, direct)
    }
    return (
      (await losesSettings(reached)) ??
      ok(pooler ? 'a connection pooler in session mode stands before PostgreSQL' : 'PostgreSQL is reached directly')
    )
  },
}

/** The running process sets its limits, and perhaps its role, at the begin of each session. */
async function losesSettings({ client, login }: ReachedDatabase): Promise<Verdict | null> {
  const { rows } = await client.query<{ bypasses: boolean }>(
    'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
  )
  let session: Client | undefined
  try {
    session = await connectedAs(runtimeOf(login, { bypasses: rows[0]?.bypasses ?? false }))
    return null
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (message.includes('does not exist'))
      throw new NotPossible('the role of the running process is not made yet: run "gatehouse migrate" first')
    return fail(`connections with the settings of the running process are refused: ${message}`, direct)
  } finally {
    await session?.end().catch(() => {})
  }
}
