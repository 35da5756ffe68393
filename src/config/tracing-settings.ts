import { choice, integer, secret, text } from './kinds.ts'
import { publicUrl } from './network.ts'
import { optional, setting } from './setting.ts'

/** The receiver of our own spans. The names are those of OpenTelemetry. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(publicUrl, {
    desc: 'An OTLP receiver that gets a trace of every request, at `/v1/traces` below this address. A host in a private network must be in `TRUSTED_CUSTOM_HOSTS`. Without it no traces are exported.',
    example: 'https://collector.example.com:4318',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(publicUrl, {
    desc: 'The whole address of the receiver of traces. It goes before `OTEL_EXPORTER_OTLP_ENDPOINT`.',
    example: 'https://collector.example.com:4318/v1/traces',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: optional(secret, {
    desc: 'Headers for the receiver: `name=value`, separated by commas, the values percent-encoded.',
    example: 'authorization=Basic%20Z2F0ZTpob3VzZQ==',
    secret: true,
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting(choice(['http/json'] as const), 'http/json', {
    desc: 'How spans are sent. Every collector that takes OTLP over HTTP takes JSON.',
    example: 'http/json',
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: setting(integer(100, 60_000), '10000', {
    desc: 'The longest time, in milliseconds, that one batch of spans may take.',
    example: '5000',
  }),
  OTEL_SERVICE_NAME: setting(text(255), 'gatehouse', { desc: 'The `service.name` of the exported spans.', example: 'gatehouse-eu' }),
}
