import type { Config } from '../../config/index.ts'

/** The forward proxies in effect, without their credentials. */
export interface ProxyReport {
  /** Null: `https://` URLs are called directly. */
  readonly https: ProxyPlace | null
  readonly http: ProxyPlace | null
  /** The hosts that are called directly all the same. */
  readonly direct: readonly string[]
  readonly names: 'checked' | 'pinned' | 'unchecked'
}

interface ProxyPlace {
  readonly url: string
  readonly credentials: boolean
}

/** Reports the proxies of the settings; null: there is none. */
export const reportProxies = (proxies: Config['proxies']): ProxyReport | null =>
  proxies && { https: placeOf(proxies.https), http: placeOf(proxies.http), direct: proxies.direct, names: proxies.names }

function placeOf(secret: NonNullable<Config['proxies']>['https']): ProxyPlace | null {
  if (secret === null) return null
  const url = new URL(secret.reveal())
  return { url: url.origin, credentials: url.username !== '' || url.password !== '' }
}

const way = (scheme: string, place: ProxyPlace | null): string =>
  place === null
    ? `${scheme}:// directly`
    : `${scheme}:// by ${place.url} (${scheme.toUpperCase()}_PROXY, ${place.credentials ? 'with' : 'without'} credentials)`

/** The report as sentences. */
export function describeProxies({ https, http, direct, names }: ProxyReport): string {
  const exceptions = direct.length === 0 ? '' : ` Always directly: ${direct.join(', ')} (NO_PROXY).`
  return `Gatehouse calls ${way('https', https)} and ${way('http', http)}.${exceptions} PROXY_NAMES is ${names}.`
}
