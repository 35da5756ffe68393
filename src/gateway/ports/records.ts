/** What a record of an exchange keeps and leaves out, and what is counted of it. */
export type { GatewayMetrics, Observation } from '../ending/metrics.ts'
export { withoutKeys, withoutQueryKeys, withoutUrlCredentials, withoutUser } from '../ending/query-keys.ts'
export { inlineConfig } from '../ending/record.ts'
export { redactionOfHeaders } from '../ending/redact.ts'
