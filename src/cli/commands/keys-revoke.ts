import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { addWait } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { CommandError, UsageError } from '../failure.ts'
import type { Installation } from '../installation.ts'
import type { KeyRow } from '../keys/find.ts'

interface Options {
  readonly secretFile?: string
  readonly json?: true
}

/** `gatehouse keys revoke [id]`. */
export const addKeysRevoke = (keys: Command): Command =>
  explain(addWait(keys.command('revoke')), {
    example: 'gatehouse keys revoke 0199c2f0-5f3a-7c3e-9f57-0d3f1c9b7a11',
    exits: { 1: 'there is no such key', ...databaseExits },
  })
    .description('Revokes an API key: within a second it stops working in every process. The audit trail names who did it.')
    .argument('[id]', 'the key, as "gatehouse keys list" tells it')
    .option('--secret-file <file>', 'instead: a file that holds the secret of a leaked key; - reads standard input')
    .option('--json', 'the key: { id, organisation, workspace, type, name, hint, ... }')
    .action(async (id: string | undefined, { secretFile, json }: Options, command: Command) => {
      if ((id === undefined) === (secretFile === undefined)) throw new UsageError('name the key by its id, or by --secret-file')
      const { withInstallation } = await import('../installation.ts')
      const key = await withInstallation(command, (opened) => revoke(opened, id ?? null, secretFile ?? ''))
      answer(json, key, `Revoked the ${key.type} key "${key.name}" (${key.id}, ${key.hint}) of ${key.organisation}.`)
    })

async function revoke(opened: Installation, id: string | null, secretFile: string): Promise<KeyRow> {
  const { deleteApiKey } = await import('../../features/api-keys/api-keys.routes.ts')
  const { findById, findBySecret } = await import('../keys/find.ts')
  const { performAsOperator } = await import('../keys/operator.ts')
  const key = id === null ? await findBySecret(opened, readSecret(secretFile)) : await findById(opened, id)
  if (key.status === 'archived') throw new CommandError(`the key ${key.id} is revoked already`)
  const asked = { organisationId: key.organisation_id, params: { id: key.id }, path: `/v1/api-keys/${key.id}` }
  await performAsOperator(opened, deleteApiKey, asked)
  return { ...key, status: 'archived' }
}

function readSecret(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').trim()
  } catch {
    throw new UsageError(`${file} cannot be read`)
  }
}
