import type { Command } from 'commander'
import { explain } from '../explain.ts'
import { addKeysCreate } from './keys-create.ts'
import { addKeysList } from './keys-list.ts'
import { addKeysRevoke } from './keys-revoke.ts'

/** `gatehouse keys create|list|revoke`. */
export function addKeys(program: Command): void {
  const keys = explain(program.command('keys'), { example: 'gatehouse keys list' }).description(
    'Makes, lists and revokes API keys in the database itself, for when no key is left that could do it over the API.',
  )
  addKeysCreate(keys)
  addKeysList(keys)
  addKeysRevoke(keys)
}
