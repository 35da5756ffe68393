import { type StoredKind, storedKinds } from '../../src/lib/stored-kinds.ts'
import { table } from './parameter-table.ts'

/** Returns the generated part of `docs/operations/sizing.md`: how much organisations store. */
export const storedParts = (): Readonly<Record<string, string>> => ({
  stored: table(
    ['Kind', 'What', 'At most', 'Beyond it'],
    Object.entries(storedKinds).map(([kind, { words, most, per, isEvicted }]: readonly [string, StoredKind]) => [
      `\`${kind}\``,
      words,
      `${most.toLocaleString('en')}${per === 'workspace' ? ' of each workspace, and as many of the organisation itself' : ''}`,
      isEvicted === true ? 'the oldest are deleted' : '409 `AB07`',
    ]),
  ),
})
