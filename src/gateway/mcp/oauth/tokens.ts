import { ApiError } from '../../../lib/errors.ts'
import { formType } from '../../credentials/token-endpoint.ts'
import { askIssuer, hostOf, type IssuerLine, signInFailed } from './ask-issuer.ts'

/** The gateway as a client of one authorization server. */
export interface OAuthClient {
  readonly clientId: string
  /** Null: a public client. */
  readonly clientSecret: string | null
  /** How the secret is shown. */
  readonly authMethod: 'client_secret_basic' | 'client_secret_post' | 'none'
}

/** A client at its token endpoint. */
export interface TokenPlace {
  readonly tokenEndpoint: string
  readonly client: OAuthClient
}

/** The tokens of an answer. */
export interface GivenTokens {
  readonly accessToken: string
  /** Null: none, or the one of before stays. */
  readonly refreshToken: string | null
  /** Null: the answer names no end. */
  readonly expiresInMs: number | null
}

/** Returns how a client shows its secret where these ways are taken. */
export function authMethodFor(secret: string | null, methods: readonly string[]): OAuthClient['authMethod'] {
  if (secret === null) return 'none'
  return methods.includes('client_secret_post') && !methods.includes('client_secret_basic') ? 'client_secret_post' : 'client_secret_basic'
}

/** In the form of RFC 6749, section 2.3.1. */
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)

const basicOf = ({ clientId }: OAuthClient, secret: string): string =>
  `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString('base64')}`

/** Asks for tokens. A refusal is `credential_failed` with the code of OAuth in `oauth_error`. */
export async function askTokens(
  line: IssuerLine,
  { tokenEndpoint, client }: TokenPlace,
  fields: Readonly<Record<string, string>>,
): Promise<GivenTokens> {
  const { clientId, clientSecret, authMethod } = client
  const form = new URLSearchParams(fields)
  const isBasic = authMethod === 'client_secret_basic' && clientSecret !== null
  if (!isBasic) form.set('client_id', clientId)
  if (authMethod === 'client_secret_post' && clientSecret !== null) form.set('client_secret', clientSecret)
  const { status, body } = await askIssuer(line, {
    url: tokenEndpoint,
    method: 'POST',
    headers: { 'content-type': formType, ...(isBasic && { authorization: basicOf(client, clientSecret) }) },
    body: form.toString(),
    secrets: [clientSecret, ...Object.values(fields)].filter((one) => one !== null),
  })
  const host = hostOf(tokenEndpoint)
  const error = body?.['error']
  if (status !== 200 || body === null || error !== undefined) throw refused(host, status, error)
  return tokensOf(host, body)
}

const codeForm = /^[\w.-]{1,64}$/

function refused(host: string, status: number, error: unknown): ApiError {
  const code = typeof error === 'string' && codeForm.test(error) ? error : null
  const told = code === null ? '' : ` (${code})`
  return signInFailed(`${host} answered HTTP ${status}${told} when asked for a token`, { oauth_error: code })
}

/** Returns whether an error states that a grant is over: no later request for it can succeed. */
export const isGrantOver = (thrown: unknown): boolean => thrown instanceof ApiError && thrown.details['oauth_error'] === 'invalid_grant'

const longestToken = 16 * 1024
const isToken = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= longestToken && !/[^\x21-\x7e]/.test(value)

function tokensOf(host: string, body: Readonly<Record<string, unknown>>): GivenTokens {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type, expires_in: expiresIn } = body
  if (!isToken(accessToken)) throw signInFailed(`${host} gave no access token`)
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') throw signInFailed(`${host} gave a token that is no bearer token`)
  const seconds = Number(expiresIn ?? Number.NaN)
  const hasEnd = Number.isFinite(seconds) && seconds > 0
  return {
    accessToken,
    refreshToken: isToken(refreshToken) ? refreshToken : null,
    expiresInMs: hasEnd ? Math.min(seconds, longestLifeSeconds) * 1000 : null,
  }
}

const longestLifeSeconds = 365 * 24 * 3600
