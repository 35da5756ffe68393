import type { Command } from 'commander'
import { pendingMigrations } from '../app/database/schema/migrate.ts'
import { openOrm } from '../app/database/orm.ts'
import { openSidePool } from '../app/database/side-pool.ts'
import { entitiesOf } from '../app/feature.ts'
import { readState } from '../app/level/follow-level.ts'
import { createLevel } from '../app/level/level.ts'
import { openVault, reopenVault } from '../app/secrets/open-vault.ts'
import type { Vault } from '../app/secrets/vault.ts'
import type { Deps } from '../app/deps.ts'
import { features } from '../features/index.ts'
import { withDatabase, type DatabaseServices } from './database.ts'
import { exitCodes } from './exit-codes.ts'
import { CommandError } from './failure.ts'

/** The services of a command that works on the data of an installation. */
export type Installation = DatabaseServices & Pick<Deps, 'orm' | 'vault' | 'clock' | 'level'>

/**
 * Runs `work` on the data behind the settings: the schema must be that of this build, and the encryption key the right one. A
 * database that no start has sealed yet is sealed with the key by a command that `makes` an installation, and by no other.
 */
export const withInstallation = <T>(
  command: Command,
  work: (opened: Installation) => Promise<T>,
  { makes = false }: { readonly makes?: boolean } = {},
): Promise<T> =>
  withDatabase(command, async (opened) => {
    const { config, connection, log } = opened
    const pending = await pendingMigrations(connection.login)
    if (pending.length > 0)
      throw new CommandError(`the schema lacks ${pending.join(', ')}: run "gatehouse migrate"`, exitCodes.configuration)
    const orm = await openOrm({ client: connection.runtime, poolSize: 2, entities: entitiesOf(features), log })
    const side = openSidePool(connection.runtime, log)
    try {
      const level = createLevel(config)
      const state = await readState(orm)
      if (state !== null) level.finalizedAt(state.level)
      const options = { orm, side, config, log }
      const vault = makes ? await openVault(options) : ((await reopenVault(options)) ?? emptyVault)
      if (vault.sealed !== null) throw new CommandError('the encryption key is missing or not the right one', exitCodes.configuration)
      return await work({ ...opened, orm, vault, level, clock: { now: Date.now } })
    } finally {
      await Promise.all([side.end(), orm.close(true)])
    }
  })

const refuse = (): never => {
  throw new CommandError(
    'no start has sealed anything in this database yet; "gatehouse serve" does, and so does "gatehouse keys create --first"',
  )
}

/** No secret was sealed, so there is none to open. */
const emptyVault: Vault = {
  sealed: null,
  encrypt: async () => refuse(),
  decrypt: async () => refuse(),
  hashKey: refuse,
  logs: { seal: refuse, open: refuse },
  words: { of: refuse },
  logKey: refuse,
}
