import { z } from 'zod'
import { everyText, type Plugin } from '../../gateway/ports/checks.ts'
import { type JsonPath, pathText, valueAt } from '../../lib/json/json-path.ts'
import { maskFault, maskSecrets, restoreSecrets, type SecretPlace } from '../../lib/text/masked-secrets.ts'

type Fields = Readonly<Record<string, unknown>>

const secretPaths = ({ secrets }: Plugin): readonly JsonPath[] => secrets.map((name) => ['credentials', ...name.split('.')])

/** Returns the places of secrets in a document of `base_url` and `credentials`; its other fields are their destination. */
const secretsOf =
  (plugin: Plugin) =>
  (document: unknown): readonly SecretPlace[] => {
    const places = secretPaths(plugin).filter((path) => valueAt(document, path) !== undefined)
    const secret = new Set(places.map((path) => JSON.stringify(path)))
    const goesTo = everyText(document, [], '')
      .map(({ path, text }) => [JSON.stringify(path), text] as const)
      .filter(([path]) => !secret.has(path))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
    return places.map((path) => ({ path, goesTo }))
  }

/** The credentials with their secrets masked. */
export const maskCredentials = (plugin: Plugin, credentials: Fields, baseUrl: string | null): Fields =>
  held.parse(maskSecrets({ base_url: baseUrl, credentials }, secretsOf(plugin))).credentials

const held = z.object({ credentials: z.record(z.string(), z.unknown()) })

interface Document {
  readonly base_url: string | null
  /** Absent: those that are stored stay. */
  readonly credentials: Fields | undefined
}

const moved = 'would go elsewhere than before, and a stored secret only goes where it was stored for'

/** Puts stored secrets back where masks stand for them. AB01 where none is stored, or the stored one would go elsewhere. */
export function restoreCredentials(plugin: Plugin, given: Document, stored: (Document & { readonly credentials: Fields }) | null) {
  const find = secretsOf(plugin)
  const credentials = given.credentials ?? (stored === null ? {} : maskCredentials(plugin, stored.credentials, stored.base_url))
  const outcome = restoreSecrets({ ...given, credentials }, stored, find)
  if ('restored' in outcome) return held.parse(outcome.restored)
  throw maskFault(pathText(outcome.fault.path), outcome.fault.reason, moved)
}

/** The URLs among the credentials, which will be called. */
export const credentialUrls = ({ urls }: Plugin, credentials: Fields): readonly { readonly path: JsonPath; readonly url: string }[] =>
  urls.flatMap((name) => {
    const path = name.split('.')
    const url = valueAt(credentials, path)
    return typeof url === 'string' ? [{ path: ['credentials', ...path], url }] : []
  })
