import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { addWait } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../command-help.ts'

/** `gatehouse keys rewrap`. */
export const addKeysRewrap = (keys: Command): Command =>
  explain(addWait(keys.command('rewrap')), {
    example: 'gatehouse keys rewrap --json',
    exits: databaseExits,
  })
    .description('Seals everything with ENCRYPTION_KEY that a key of ENCRYPTION_KEY_PREVIOUS sealed, so that those are needed no more.')
    .option('--json', '{ rewrapped }')
    .action(async ({ json }: { json?: true }, command: Command) => {
      // The code of the whole product is loaded for this command alone.
      const { withInstallation } = await import('../installation.ts')
      const { chooseKey } = await import('../../app/secrets/encryption-key.ts')
      const { rewrap } = await import('../../app/secrets/rewrap.ts')
      const rewrapped = await withInstallation(command, async ({ orm, config }) => {
        const ring = await chooseKey(config, { mayCreate: false })
        // An installation whose vault opened has a key.
        return 'sealed' in ring ? 0 : rewrap(orm, ring)
      })
      const text =
        rewrapped === 0 ? 'everything is sealed with ENCRYPTION_KEY already' : `${rewrapped} keys are sealed with ENCRYPTION_KEY now`
      answer(json, { rewrapped }, `${text}; ENCRYPTION_KEY_PREVIOUS is not needed any more`)
    })
