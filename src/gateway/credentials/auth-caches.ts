import type { KeyObject } from 'node:crypto'
import type { Egress } from '../egress/egress.ts'
import { createExpiringCache, type ExpiringCache } from '../../lib/expiring-cache.ts'
import type { AwsKeys } from './sigv4.ts'

/** The fetched and computed values for credentials, by their fingerprints. Never logged. */
export interface AuthCaches {
  readonly tokens: ExpiringCache<string>
  readonly roles: ExpiringCache<AwsKeys>
  readonly signers: ExpiringCache<KeyObject>
}

/** The caches belong to an egress, and so to one composed app: two apps in a process share none. */
const byEgress = new WeakMap<Egress, AuthCaches>()
const maxEntries = 1000

/** The caches that live as long as this egress. */
export function cachesOf(egress: Egress): AuthCaches {
  const existing = byEgress.get(egress)
  if (existing !== undefined) return existing
  const caches = {
    tokens: createExpiringCache<string>(maxEntries),
    roles: createExpiringCache<AwsKeys>(maxEntries),
    signers: createExpiringCache<KeyObject>(maxEntries),
  }
  byEgress.set(egress, caches)
  return caches
}
