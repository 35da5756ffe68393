import { timingSafeEqual } from 'node:crypto'
import type { Deps } from '../../app/deps.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import { ApiError } from '../../lib/errors.ts'

const livesMs = 15 * 60_000

/** Keyed with the secret under which API keys are hashed; no key begins with these words. */
const signatureOf = (id: string, expires: string, { vault }: Pick<Deps, 'vault'>): Buffer =>
  vault.hashKey(`log export file\n${id}\n${expires}`)

/** Returns a link to the file of an export. It works without a key, for a quarter of an hour, in every process. */
export function signedUrl(id: string, deps: Pick<Deps, 'vault' | 'config' | 'clock'>): string {
  const expires = String(deps.clock.now() + livesMs)
  const signature = signatureOf(id, expires, deps).toString('base64url')
  return `${ownOrigin(deps.config)}/v1/logs/exports/${id}/file?expires=${expires}&signature=${signature}`
}

interface UrlSignature {
  readonly id: string
  readonly expires: string | undefined
  readonly signature: string | undefined
}

/** Throws AB05 for a link that we did not sign, or whose time is over. */
export function demandSignature({ id, expires = '', signature = '' }: UrlSignature, deps: Pick<Deps, 'vault' | 'clock'>): void {
  const [given, right] = [Buffer.from(signature, 'base64url'), signatureOf(id, expires, deps)]
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw new ApiError('AB05', 'This link is not one that was given out here.', { param: 'signature' })
  if (Number(expires) <= deps.clock.now())
    throw new ApiError('AB03', 'The time of this link is over. GET /v1/logs/exports/{exportId}/download gives another.', {
      param: 'expires',
    })
}
