import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Egress, SmallResponse } from '../egress/egress.ts'
import type { HostSource } from '../egress/guard.ts'

/** One call to an issuer of tokens. */
export interface TokenCall {
  /** The issuer's name in errors: `Google`, `Microsoft Entra`. */
  readonly issuer: string
  readonly url: string
  readonly form: string
  readonly headers?: Readonly<Record<string, string>>
  /** Absent: the issuer's own address. */
  readonly named?: HostSource
}

export const formType = 'application/x-www-form-urlencoded; charset=utf-8'
const timeoutMs = 10_000

/** Posts a form to a token endpoint and gives the answer's text. Throws `credential_failed`, or `blocked_host` from the guard. */
export async function postForm(egress: Egress, call: TokenCall): Promise<string> {
  const response = await exchange(egress, call)
  if (response.status === 200) return response.text
  throw failed(call.issuer, `answered ${response.status}${reasonIn(response.text)}`)
}

async function exchange(egress: Egress, { url, form, headers, issuer, named = 'by catalogue' }: TokenCall): Promise<SmallResponse> {
  try {
    return await egress.exchange({ url, method: 'POST', headers: { 'content-type': formType, ...headers }, body: form, timeoutMs, named })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'blocked_host') throw error
    const late = error instanceof ApiError && error.code === 'upstream_timeout'
    throw failed(issuer, late ? `did not answer within ${timeoutMs / 1000} s` : 'could not be reached', error)
  }
}

/** The issuer's machine-readable reason (OAuth `error`, AWS `Code`); its prose may quote the credential and stays out. */
function reasonIn(text: string): string {
  const [, oauth, aws] = /"error"\s*:\s*"([\w.-]{1,64})"|<Code>([\w.-]{1,64})<\/Code>/.exec(text) ?? []
  const reason = oauth ?? aws
  return reason === undefined ? '' : ` (${reason})`
}

/** An access token and its life, from an OAuth 2 answer (RFC 6749 section 5.1). */
export function readAccessToken(issuer: string, text: string): { readonly token: string; readonly expiresInMs: number } {
  const body = parseRecord(text)
  const token = body?.['access_token']
  if (typeof token !== 'string' || token === '' || /[^\x21-\x7e]/.test(token)) throw failed(issuer, 'gave no access token')
  const seconds = Number(body?.['expires_in'])
  return { token, expiresInMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0 }
}

/** A JSON object; null when the text is anything else. */
export function parseRecord(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

/** `credential_failed`, with the issuer's reaction. */
export function failed(issuer: string, what: string, cause?: unknown): ApiError {
  return new ApiError('credential_failed', `${issuer} ${what} when asked for a token for this credential.`, { cause })
}
