import type { EntityManager } from '@mikro-orm/postgresql'
import type { Ask } from '../../app/snapshot/view.ts'

/** Asks in the transaction of a request what the snapshot asks for the gateway: the same queries, and what was just written. */
export const askThrough =
  (em: EntityManager): Ask =>
  ({ text, values = [] }) => {
    const given: unknown[] = []
    const sql = text.replaceAll(/\$(\d+)/g, (_, position: string) => {
      given.push(values[Number(position) - 1])
      return '?'
    })
    return em.execute(sql, given)
  }
