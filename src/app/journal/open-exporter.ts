import type { Config } from '../../config/config.ts'
import { concealSecret, inTheClear } from '../../lib/plain-secrets.ts'
import type { SpanReceiver } from './messages.ts'
import type { SpanExporter } from './span-exporter.ts'

const contentTypes = { 'http/json': 'application/json' } as const

/** Returns the receiver of spans as the thread needs it; null: none is configured. */
export function packReceiver(
  config: Pick<Config, 'spanExport' | 'version' | 'trustedCustomHosts' | 'connectTimeoutMs' | 'proxies'>,
): SpanReceiver | null {
  const { spanExport, version, trustedCustomHosts, connectTimeoutMs } = config
  if (spanExport === null) return null
  const { baseUrl, tracesUrl, otlpHeaders, protocol, otlpTimeoutMs, serviceName } = spanExport
  return {
    url: tracesUrl ?? `${baseUrl}/v1/traces`,
    headers: otlpHeaders?.reveal() ?? '',
    contentType: contentTypes[protocol],
    timeoutMs: otlpTimeoutMs,
    serviceName,
    serviceVersion: version,
    trustedHosts: trustedCustomHosts,
    proxies: inTheClear(config.proxies),
    connectTimeoutMs,
  }
}

/** Opens the exporter of the thread. Its parts are loaded here, because most installations need none of them. */
export async function openExporter(receiver: SpanReceiver): Promise<SpanExporter> {
  const { createEgress } = await import('../../gateway/ports/egress-making.ts')
  const { createSpanExporter, readHeaders } = await import('./span-exporter.ts')
  const { trustedHosts, connectTimeoutMs } = receiver
  const proxies: Config['proxies'] = JSON.parse(receiver.proxies, concealSecret)
  const egress = createEgress({ trustedHosts, connectTimeoutMs, proxies })
  return createSpanExporter({ ...receiver, headers: readHeaders(receiver.headers), egress })
}
