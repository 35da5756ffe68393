import type { Command } from 'commander'
import { explain } from '../command-help.ts'
import { addKeysCreate } from './keys-create.ts'
import { addKeysList } from './keys-list.ts'
import { addKeysRevoke } from './keys-revoke.ts'
import { addKeysRewrap } from './keys-rewrap.ts'

/** `gatehouse keys create|list|revoke|rewrap`. */
export function addKeys(program: Command): void {
  const keys = explain(program.command('keys'), { example: 'gatehouse keys list' }).description(
    'Makes, lists and revokes API keys in the database itself, for when no key is left that could do it over the API; and replaces the encryption key.',
  )
  addKeysCreate(keys)
  addKeysList(keys)
  addKeysRevoke(keys)
  addKeysRewrap(keys)
}
