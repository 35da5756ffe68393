import { hash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { ApiError } from '../../../lib/errors.ts'
import { createWeighed, type WeightedCache } from '../../../lib/collections/weighed.ts'
import { type MaybePromise, settled } from '../../../lib/maybe-promise.ts'
import type { KeyView } from '../key.ts'
import type { TokenSettings } from '../../../lib/access/token-settings.ts'
import type { TokenSource, TokenHolder, TokenIssuer, WantedHolder } from './token-source.ts'
import { createExpiringCache, type ExpiringValue } from '../../../lib/expiring-cache.ts'
import { organisationOf, readClaims, type ClaimPrefixes, type TokenClaims } from './token-claims.ts'
import { noteRefusal } from './token-refusals.ts'
import { toKeyView } from './token-view.ts'
import { looksLikeToken, readUnverified, tokenFault, verifyToken, type VerifyDeps } from './verify-token.ts'

/** Callers that show a JSON Web Token of their organisation's issuer instead of an API key. */
export interface Tokens {
  /** Returns whether a credential counts as a token: by its form, unless it is a key that the operator chose. */
  isToken(secret: string): boolean
  /**
   * The caller as a key. Synchronous for a token that was seen before, and rejects (throws) with the fault: `unauthorized`, `expired_key`,
   * `forbidden`, `dependency_unavailable`. For an address that has used up its failures, only tokens that were good before are looked at.
   */
  caller(token: string, address?: string): MaybePromise<KeyView>
}

export interface TokensOptions extends Omit<VerifyDeps, 'organisationId' | 'allowedHosts'> {
  readonly snapshot: TokenSource
  readonly prefixes: ClaimPrefixes
  /** Returns whether callers see the fault of a token. */
  readonly explains: () => boolean
  /** Returns whether tokens hold the scopes that read and list. */
  readonly reads: () => boolean
  /** Returns whether an address has shown too many bad credentials. */
  readonly spent: (address: string) => boolean
  /** Keys that the operator chose, which may be of any form. */
  readonly chosenKeys: ReadonlySet<string>
}

interface State extends TokensOptions {
  readonly verified: ReturnType<typeof createExpiringCache<TokenClaims>>
  /** Tokens that were good, by organisation and id. */
  readonly good: WeightedCache<true>
  readonly views: WeakMap<TokenClaims, TokenView>
}

/** The caller of a token, for as long as its sources are unchanged. */
interface TokenView {
  readonly holder: TokenHolder
  readonly reads: boolean
  readonly key: KeyView
}

/** The most tokens of all organisations together; above it, tokens of the organisation with the most are evicted. */
const maxTokens = 20_000
const uuidLength = 36
/** So soon a key that its issuer withdrew, and that was fetched anew since, stops. */
const recheckMs = 30_000

/** Tokens of every organisation that has an issuer. */
export function createTokens(options: TokensOptions): Tokens {
  const state: State = {
    ...options,
    verified: createExpiringCache<TokenClaims>(maxTokens, organisationIn),
    good: createWeighed({ most: maxTokens, mostOfOne: maxTokens }),
    views: new WeakMap(),
  }
  return {
    isToken: (secret) => looksLikeToken(secret) && !options.chosenKeys.has(secret),
    caller(token, address) {
      try {
        const found = identify(state, token, address)
        return found instanceof Promise ? found.catch((error: unknown) => refuse(state, token, error)) : found
      } catch (error) {
        return refuse(state, token, error)
      }
    },
  }
}

function identify(state: State, token: string, address: string | undefined): MaybePromise<KeyView> {
  const organisation = organisationOf(readUnverified(token), state.prefixes)
  if (organisation === null) throw tokenFault('it names no organisation: the claim organisation_id is missing, or is no UUID.')
  return settled(state.snapshot.tokenIssuer(organisation, address), (issuer) => {
    if (issuer === null) throw tokenFault('its organisation is not known here.')
    if (issuer.settings === null)
      throw tokenFault(
        'its organisation takes no tokens. An admin of it can set settings.jwt with PUT /v1/admin/organisation.',
        'forbidden',
      )
    const { settings } = issuer
    return settled(claimsOf(state, { token, address }, issuer), (claims) =>
      settled(state.snapshot.tokenHolder(issuer.organisationId, wantedBy(claims, settings)), (holder) => keyOf(state, claims, holder)),
    )
  })
}

function wantedBy({ workspace, email, issuer, subject }: TokenClaims, { holder }: TokenSettings): WantedHolder {
  const identity = holder === 'email' || issuer === null || subject === null ? null : { issuer, subject }
  return { workspace, email, identity }
}

interface ShownToken {
  readonly token: string
  readonly address: string | undefined
}

function claimsOf(
  state: State,
  { token, address }: ShownToken,
  { settings, version, organisationId, allowedHosts }: TokenIssuer,
): MaybePromise<TokenClaims> {
  if (settings === null) throw new Error('an issuer without settings verifies no token')
  const id = `${organisationId}:${version}:${hash('sha256', token, 'base64')}`
  return state.verified.get(id, state.now(), async (): Promise<ExpiringValue<TokenClaims>> => {
    if (address !== undefined && state.good.get(organisationId, id) === undefined && state.spent(address))
      throw tokenFault('it was not looked at.')
    const claims = demandClaims(await verifyToken(token, settings, { ...state, organisationId, allowedHosts }), state.prefixes)
    state.good.set(organisationId, id, { value: true, weight: 1 })
    return { value: claims, usableUntil: Math.min(claims.expiresAt + settings.clock_tolerance * 1000, state.now() + recheckMs) }
  })
}

/** Returns the organisation in the id of a token. */
const organisationIn = (id: string): string => id.slice(0, uuidLength)

function demandClaims(payload: JWTPayload, prefixes: ClaimPrefixes): TokenClaims {
  const claims = readClaims(payload, prefixes)
  if (typeof claims === 'string') throw tokenFault(claims)
  return claims
}

function keyOf(state: State, claims: TokenClaims, holder: TokenHolder | null): KeyView {
  if (holder === null) throw tokenFault(`its organisation has no workspace ${JSON.stringify(claims.workspace)}.`)
  const reads = state.reads()
  const held = state.views.get(claims)
  if (held !== undefined && held.holder === holder && held.reads === reads) return held.key
  const key = toKeyView(claims, holder, { reads })
  state.views.set(claims, { holder, reads, key })
  return key
}

/** Throws the part of the fault that the caller may see; the full fault is noted for the trail of the organisation that the token names. */
function refuse(state: State, token: string, error: unknown): never {
  if (!(error instanceof ApiError) || error.status >= 500 || state.explains()) throw noted(state, token, error)
  throw new ApiError(error.code, 'The token is not accepted.', { param: 'authorization', cause: error })
}

function noted({ prefixes }: State, token: string, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status >= 500) return error
  const payload = tryRead(token)
  const organisationId = payload === null ? null : organisationOf(payload, prefixes)
  if (payload !== null && organisationId !== null) {
    const said = readClaims(payload, prefixes)
    noteRefusal(error, { organisationId, holder: typeof said === 'string' ? null : said.holder })
  }
  return error
}

function tryRead(token: string): JWTPayload | null {
  try {
    return readUnverified(token)
  } catch {
    return null
  }
}
