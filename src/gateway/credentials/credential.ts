import { hash } from 'node:crypto'
import { ApiError } from '../../lib/errors.ts'
import type { Credential } from '../providers/provider.ts'

const notForHeaders = /[^\t\x20-\x7e\x80-\xff]/

/** The key, fit for a header. Throws `missing_credential` when there is none. */
export function requireKey({ key }: Credential): string {
  if (key === null || key === '') {
    throw new ApiError(
      'missing_credential',
      'This provider needs a key. Send it as Authorization: Bearer <key>, or use a stored provider.',
      {
        param: 'authorization',
      },
    )
  }
  if (notForHeaders.test(key)) throw malformed('authorization', 'holds a character that no header can carry')
  return key
}

/** A named field of the credential; null when it is absent or empty. */
export function field({ fields }: Credential, name: string): string | null {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return value === undefined || value === '' ? null : value
}

/** A named field that the provider cannot do without. */
export function requireField(credential: Credential, name: string): string {
  const value = field(credential, name)
  if (value !== null) return value
  const header = `x-service-${name.replaceAll('_', '-')}`
  throw new ApiError('missing_credential', `This provider needs ${name}. Store it with the provider, or send ${header}.`, { param: name })
}

/** A credential that cannot be right, reported before it is used. `fault` must not quote the value. */
export function malformed(name: string, fault: string): ApiError {
  return new ApiError('invalid_request', `The credential ${name} ${fault}.`, { param: name })
}

/** A name for a credential by which its token can be kept, and that reveals nothing about it. */
export function fingerprint(...parts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

/** A PEM that came in one line, with its line breaks as `\n`, or whole in base64, as headers and environments carry it. */
export function pemText(value: string): string {
  const text = value.includes('-----BEGIN') ? value : Buffer.from(value, 'base64').toString('latin1')
  return text.replaceAll(String.raw`\n`, '\n').trim()
}
