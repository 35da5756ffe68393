import { ApiError } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { parseRecord } from '../credentials/token-endpoint.ts'
import type { Egress } from '../egress/egress.ts'
import type { Credential } from '../providers/provider.ts'
import { secretFault } from './fault.ts'
import { keyField, type MappedSecret } from './secret-reference.ts'
import type { SecretSource } from './secret-source.ts'

interface CredentialWithSecrets {
  readonly credential: Credential
  readonly secrets: readonly MappedSecret[]
}

/** Returns a credential with the values of its secrets: at once when all of them are held. Rejects with `secret_unavailable` or `forbidden`. */
export function withSecrets(
  { credential, secrets }: CredentialWithSecrets,
  source: SecretSource,
  egress: Egress,
): MaybePromise<Credential> {
  for (const { allowed, reference } of secrets) if (!allowed) throw notShared(reference.slug)
  const texts = secrets.map(({ reference }) => source.read(reference, egress))
  const held = texts.filter((text) => typeof text === 'string')
  if (held.length === texts.length) return fill(credential, secrets, held)
  return Promise.all(texts.map(async (text) => text)).then((read) => fill(credential, secrets, read))
}

const notShared = (slug: string): ApiError =>
  new ApiError('forbidden', `This workspace may not use the secret reference "${slug}". An administrator shares it (allowed_workspaces).`)

function fill(credential: Credential, secrets: readonly MappedSecret[], texts: readonly string[]): Credential {
  let { key } = credential
  const fields: Record<string, string> = { ...credential.fields }
  for (const [at, mapped] of secrets.entries()) {
    const value = valueOf(texts[at] ?? '', mapped)
    if (mapped.field === keyField) key = value
    else fields[mapped.field] = value
  }
  return { key, fields }
}

/** Returns the part of a secret that a mapping takes: all of it, or a field of its JSON object. Throws `secret_unavailable`. */
export function valueOf(text: string, { reference, secretKey, format }: MappedSecret): string {
  const { slug, manager } = reference
  const name = secretKey ?? reference.secretKey
  const value = name === null ? wholeOf(text, manager === 'hashicorp_vault' && format === 'string') : fieldOf(text, name)
  if (value === undefined)
    throw secretFault(
      'missing',
      `The secret of the reference "${slug}" ${name === null ? 'has several fields: name one as secret_key' : `has no field ${JSON.stringify(name)}`}.`,
    )
  if (format === 'json' && parseRecord(value) === null)
    throw secretFault('odd', `The secret of the reference "${slug}" is no JSON object, as value_format "json" says.`)
  return value.trim()
}

/** A secret of Vault is always an object: of one with a single field that field is meant. */
function wholeOf(text: string, isObject: boolean): string | undefined {
  if (!isObject) return text
  const fields = Object.entries(parseRecord(text) ?? {})
  return fields.length === 1 ? textOf(fields[0]?.[1]) : undefined
}

const fieldOf = (text: string, name: string): string | undefined => {
  const record = parseRecord(text)
  return record !== null && Object.hasOwn(record, name) ? textOf(record[name]) : undefined
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : typeof value === 'string' ? value : JSON.stringify(value)
