import { hash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { createExpiringCache, type ExpiringCache } from '../../../lib/expiring-cache.ts'
import type { Egress } from '../../egress/egress.ts'
import type { CheckContext } from '../check.ts'

export interface Introspection {
  readonly url: string
  readonly introspectContentType: string
  /** Seconds. */
  readonly introspectCacheMaxAge?: number | undefined
  /** Seconds. */
  readonly clockTolerance: number
}

const maxKept = 10_000

/** The answers about tokens, by their fingerprints, for each egress, because they belong to one composed app. */
const byEgress = new WeakMap<Egress, ExpiringCache<JWTPayload | string>>()

function keptBy(egress: Egress): ExpiringCache<JWTPayload | string> {
  const kept = byEgress.get(egress) ?? createExpiringCache<JWTPayload | string>(maxKept)
  byEgress.set(egress, kept)
  return kept
}

function isSaid(value: unknown): value is JWTPayload & { readonly active: boolean } {
  if (typeof value !== 'object' || value === null) return false
  const { active, exp, nbf }: { active?: unknown; exp?: unknown; nbf?: unknown } = value
  return typeof active === 'boolean' && [exp, nbf].every((time) => time === undefined || typeof time === 'number')
}

/** Asks the issuer about a token (RFC 7662): its claims, or why it is not accepted. Rejects when there is no answer. */
export async function introspect(token: string, how: Introspection, context: CheckContext): Promise<JWTPayload | string> {
  const keepMs = (how.introspectCacheMaxAge ?? 0) * 1000
  const now = context.now()
  if (keepMs === 0) return ask(token, how, context)
  const found = await keptBy(context.egress).get(hash('sha256', `${how.url}\n${token}`, 'base64url'), now, async () => {
    const value = await ask(token, how, context)
    return { value, usableUntil: typeof value === 'string' ? now : Math.min(now + keepMs, (value.exp ?? Infinity) * 1000) }
  })
  return found
}

async function ask(
  token: string,
  { url, introspectContentType: type, clockTolerance }: Introspection,
  context: CheckContext,
): Promise<JWTPayload | string> {
  const body = type === 'application/json' ? JSON.stringify({ token }) : new URLSearchParams({ token }).toString()
  const { status, text } = await context.egress.exchange({
    url,
    method: 'POST',
    headers: { 'content-type': type, accept: 'application/json' },
    body,
    timeoutMs: context.timeoutMs,
  })
  if (status !== 200) throw new Error(`The issuer answered ${status} when asked about the token.`)
  const said: unknown = JSON.parse(text)
  if (!isSaid(said)) throw new Error('The answer of the issuer does not state whether the token is active.')
  const seconds = context.now() / 1000
  if (!said.active) return 'The token is not active by the answer of the issuer.'
  if (said.exp !== undefined && said.exp + clockTolerance <= seconds) return 'The token has expired.'
  if (said.nbf !== undefined && said.nbf - clockTolerance > seconds) return 'The token is not valid yet.'
  return said
}
