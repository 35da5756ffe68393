import type { CleanedEnv } from 'envalid'
import type { SpanExportConfig } from './config.ts'
import type { settings } from './settings.ts'

/** Returns the receiver of our spans; null: they are not exported. */
export function spanExportOf(values: CleanedEnv<typeof settings>): SpanExportConfig | null {
  const addresses = {
    baseUrl: values.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    tracesUrl: values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? null,
  }
  if (addresses.baseUrl === null && addresses.tracesUrl === null) return null
  return {
    ...addresses,
    otlpHeaders: values.OTEL_EXPORTER_OTLP_HEADERS ?? null,
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    otlpTimeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
    serviceName: values.OTEL_SERVICE_NAME,
  }
}
