import { connect } from '../../app/database/connect.ts'
import { openOrm } from '../../app/database/orm.ts'
import { describeError } from '../../app/logging/describe-error.ts'
import { openSidePool } from '../../app/database/side-pool.ts'
import { openVault } from '../../app/secrets/open-vault.ts'
import { hasTable } from '../preflight/checks/schema.ts'
import type { Stage } from '../preflight/stage.ts'
import type { SecretInventory } from './bundle.ts'
import { shortestSecret } from '../../lib/text/secret-forms.ts'
import { distinct, localSecrets } from './secrets.ts'
import { openStored, type StoredSecrets } from './stored-secrets.ts'

/** Gathers every secret that this process can hold: from the environment, from files, and from the database, opened. */
export async function gatherSecrets(stage: Stage): Promise<SecretInventory> {
  const local = localSecrets(stage.env, stage.configError === null ? stage.settings() : null)
  const short = local.filter(({ value }) => value.length < shortestSecret).length
  const gaps = [
    ...(stage.configError === null ? [] : ['the settings cannot be used, and so the secrets that only they lead to are unknown']),
    ...(short > 0 ? [`${short} values have fewer than ${shortestSecret} characters, and are found by the names before them alone`] : []),
  ]
  try {
    const { secrets, unopened } = await openDatabase(stage)
    const more = unopened > 0 ? [`${unopened} sealed values of the database could not be opened`] : []
    return { secrets: distinct([...secrets, ...local]), gaps: [...gaps, ...more] }
  } catch (error) {
    const why = error instanceof Error ? describeError(error).message : String(error)
    return { secrets: distinct(local), gaps: [...gaps, `stored credentials are not known: ${why}`] }
  }
}

async function openDatabase(stage: Stage): Promise<StoredSecrets> {
  const config = stage.settings()
  const { client, config: database } = await stage.database()
  // A vault that is opened for the first time makes its pepper; there is none to open then.
  if (!(await hasTable(client, 'instance_secrets')) || !(await hasRows(stage))) return { secrets: [], unopened: 0 }
  const { runtime } = await connect(database, stage.log)
  const orm = await openOrm({ client: runtime, poolSize: 2, entities: [], log: stage.log })
  const side = openSidePool(runtime, stage.log)
  try {
    const vault = await openVault({ orm, side, config, log: stage.log })
    if (vault.sealed !== null) throw new Error(`the encryption key does not open them (${vault.sealed})`)
    return await openStored(orm, vault)
  } finally {
    await Promise.all([side.end(), orm.close(true)])
  }
}

async function hasRows(stage: Stage): Promise<boolean> {
  const { client } = await stage.database()
  return (await client.query('SELECT FROM instance_secrets LIMIT 1')).rowCount === 1
}
