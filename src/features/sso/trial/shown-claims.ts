import { withoutSecrets } from '../../../app/audit/mask.ts'
import { isSecretName } from '../../../lib/text/secret-names.ts'
import type { Claims } from '../claims.ts'

/** Claims that bind a token to a sign-in or to another token, and are no facts about a person. */
const unshown: ReadonlySet<string> = new Set(['nonce', 'sid', 'jti', 'at_hash', 'c_hash', 's_hash'])

const maxBytes = 32_768

/** Returns claims for the admin who set up the provider: without tokens and texts that look like a secret, and not too many. */
export function shownClaims(claims: Claims): { readonly claims: Record<string, unknown>; readonly leftOut: string[] } {
  const entries = Object.entries(claims)
    .filter(([name, value]) => !unshown.has(name) && value !== undefined)
    .map(([name, value]) => {
      const shown = withoutSecrets(value, () => '[hidden]', { secret: isSecretName(name), list: name })
      return { name, shown, bytes: Buffer.byteLength(JSON.stringify([name, shown])) }
    })
  const kept = [...entries]
  const leftOut: string[] = []
  while (kept.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes) {
    const longest = kept.reduce((one, other) => (other.bytes > one.bytes ? other : one))
    kept.splice(kept.indexOf(longest), 1)
    leftOut.push(longest.name.slice(0, 255))
  }
  return { claims: Object.fromEntries(kept.map(({ name, shown }) => [name, shown])), leftOut: leftOut.slice(0, 100) }
}
