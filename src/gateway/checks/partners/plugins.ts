import { z } from 'zod'
import { isFields } from '../../../lib/json/fields.ts'
import { partnerChecks } from './all.ts'

export { calledUrl } from '../default/webhook.ts'

/** A partner whose credentials can be stored apart from guardrails, for all of its checks. */
export interface Plugin {
  readonly id: string
  /** The releases that brought its checks. */
  readonly releases: readonly string[]
  /** The fields that all of its checks need together; those that only some of them need may be absent. */
  readonly schema: z.ZodObject
  /** Fields that are secret, as paths. */
  readonly secrets: readonly string[]
  /** Fields that hold a URL which will be called, as paths. */
  readonly urls: readonly string[]
}

const accounts = partnerChecks.flatMap(({ account, since }) => (account === undefined ? [] : [{ ...account, since }]))

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)]

function toPlugin(id: string): Plugin {
  const own = accounts.filter(({ plugin }) => plugin === id)
  const names = unique(own.flatMap(({ schema }) => Object.keys(schema.shape)))
  const shape = names.map((name) => {
    const found = own.flatMap(({ schema }) => schema.shape[name] ?? [])
    const [field = z.never()] = found
    return [name, found.length === own.length ? field : field.optional()] as const
  })
  return {
    id,
    releases: unique(own.map(({ since }) => since)),
    schema: z.strictObject(Object.fromEntries(shape)),
    secrets: unique(own.flatMap(({ secrets }) => secrets)),
    urls: unique(own.flatMap(({ urls }) => urls)),
  }
}

/** The partners whose credentials can be stored, by name. */
export const plugins: ReadonlyMap<string, Plugin> = new Map(unique(accounts.map(({ plugin }) => plugin)).map((id) => [id, toPlugin(id)]))

const account = new Map(partnerChecks.map((check) => [check.id, check.account]))

/** The partners whose stored credentials these checks use, since they have none of their own. */
export const pluginsUsedBy = (checks: readonly { readonly id: string; readonly parameters?: unknown }[]): readonly string[] =>
  unique(
    checks.flatMap(({ id, parameters }) => {
      const plugin = account.get(id)?.plugin
      return plugin === undefined || (isFields(parameters) && parameters['credentials'] !== undefined) ? [] : [plugin]
    }),
  )
