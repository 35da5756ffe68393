import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { addWait } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import type { KeyRow } from '../keys/find.ts'

interface Options {
  readonly all?: true
  readonly json?: true
}

/** `gatehouse keys list`. */
export const addKeysList = (keys: Command): Command =>
  explain(addWait(keys.command('list')), { example: 'gatehouse keys list --json', exits: databaseExits })
    .description('Lists the API keys of the installation, without their secrets.')
    .option('--all', 'also those that were revoked')
    .option('--json', 'an array of { id, organisation, workspace, type, name, hint, status, scopes, created_at, expires_at }')
    .action(async ({ all, json }: Options, command: Command) => {
      const { withInstallation } = await import('../installation.ts')
      const { listKeys } = await import('../keys/find.ts')
      const rows = await withInstallation(command, (opened) => listKeys(opened, { revoked: all ?? false }))
      answer(json, rows, rows.map(describe).join('\n') || 'There is no key.')
    })

const describe = ({ id, organisation, workspace, type, name, hint, status, scopes }: KeyRow) =>
  [
    id,
    status.padEnd(9),
    type.padEnd(20),
    hint.padEnd(12),
    [organisation, workspace].filter(Boolean).join('/'),
    JSON.stringify(name),
    `${scopes} scopes`,
  ].join('  ')
