import type { EntityManager } from '@mikro-orm/postgresql'
import type { Ask } from '../../app/snapshot/view.ts'

/** Runs in the transaction of a request the queries that the snapshot runs for the gateway, so that they see its own writes. */
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
