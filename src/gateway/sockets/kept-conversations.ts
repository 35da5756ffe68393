import { exactJson } from '../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { SharedBytes } from './shared-bytes.ts'

/** The conversations that a connection can continue without anyone having stored them: the latest ones, up to so many bytes. */
export interface KeptConversations {
  /** Returns the items of a conversation as JSON without brackets; null: it is not kept. */
  get(id: string): string | null
  keep(id: string, items: string): void
  clear(): void
}

interface KeepOptions {
  readonly organisationId: string
  /** The most of one connection. */
  readonly most: number
  readonly bytes: SharedBytes
}

export function keepConversations({ organisationId, most, bytes }: KeepOptions): KeptConversations {
  const kept = new Map<string, string>()
  let size = 0

  function drop(id: string, items: string): void {
    kept.delete(id)
    size -= items.length
    bytes.give(organisationId, items.length)
  }

  return {
    get: (id) => kept.get(id) ?? null,
    keep(id, items) {
      for (const [oldest, held] of kept) {
        if (size + items.length <= most) break
        drop(oldest, held)
      }
      if (items.length > most || !bytes.take(organisationId, items.length)) return
      kept.set(id, items)
      size += items.length
    },
    clear() {
      for (const [id, items] of kept) drop(id, items)
    },
  }
}

/** Returns items as JSON without brackets. */
export const itemsText = (items: readonly unknown[]): string => exactJson(items).slice(1, -1)

/** Returns two lists without brackets as one. */
export const joinItems = (one: string, other: string): string => (one === '' || other === '' ? one + other : `${one},${other}`)

/** Returns the items of an answer as a later request can send them: without ids, which are not stored, and without thoughts, which only their maker can read. */
export const resentItems = (output: unknown): readonly Fields[] =>
  (Array.isArray(output) ? output : [])
    .filter(isFields)
    .filter((item) => item['type'] !== 'reasoning' || typeof item['encrypted_content'] === 'string')
    .map(({ id: _id, status: _status, ...item }) => item)
