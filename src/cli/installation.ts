import type { Command } from 'commander'
import { pendingMigrations } from '../app/database/migrate.ts'
import { openOrm } from '../app/database/orm.ts'
import { openVault } from '../app/secrets/open-vault.ts'
import type { Deps } from '../app/deps.ts'
import { features } from '../features/index.ts'
import { withDatabase, type Opened } from './database.ts'
import { exitCodes } from './exit-codes.ts'
import { CommandError } from './failure.ts'

/** What a command that works on the data of an installation is given. */
export type Installation = Opened & Pick<Deps, 'orm' | 'vault' | 'clock'>

/** Runs `work` on the data behind the settings: the schema must be that of this build, and the encryption key the right one. */
export const withInstallation = <T>(command: Command, work: (opened: Installation) => Promise<T>): Promise<T> =>
  withDatabase(command, async (opened) => {
    const { config, connection, log } = opened
    const pending = await pendingMigrations(connection.login)
    if (pending.length > 0)
      throw new CommandError(`the schema lacks ${pending.join(', ')}: run "gatehouse migrate"`, exitCodes.configuration)
    const orm = await openOrm({ client: connection.runtime, poolSize: 2, entities: features.flatMap(({ entities }) => entities), log })
    try {
      const vault = await openVault({ orm, client: connection.runtime, config, log })
      if (vault.sealed !== null) throw new CommandError('the encryption key is missing or not the right one', exitCodes.configuration)
      return await work({ ...opened, orm, vault, clock: { now: Date.now } })
    } finally {
      await orm.close(true)
    }
  })
