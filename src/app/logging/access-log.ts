import type { ExchangeRecord, Journal } from '../../gateway/ports.ts'
import type { Exchange } from '../../gateway/exchange/exchange.ts'
import type { Loggers } from './log.ts'

/** The access log of the data plane: one line an exchange, whether it got as far as a record or not. */
export interface AccessLog {
  /** The journal, which also writes the line of every exchange that it records. */
  journal(journal: Journal): Journal
  /** Takes an exchange that begins; one without a record (no valid key) gets a line when it ends. */
  taken(exchange: Exchange): void
}

/** Opens the access log. */
export function openAccessLog({ access: log, accessLine }: Pick<Loggers, 'access' | 'accessLine'>): AccessLog {
  const unwritten = new Set<string>()
  return {
    journal: (journal) => ({
      maxBodyBytes: journal.maxBodyBytes,
      append(record, bodies) {
        journal.append(record, bodies)
        if (unwritten.delete(record.id)) accessLine(toLine(record), 'exchange')
      },
    }),
    taken(exchange) {
      unwritten.add(exchange.requestId)
      exchange.onceClosed(() => {
        if (unwritten.delete(exchange.requestId)) log.info(toShortLine(exchange), 'exchange')
      })
    },
  }
}

/** Named fields only: no header, no body, no query, which may hold a key. */
function toLine(record: ExchangeRecord): string {
  const { usage, workspaceId, upstreamMs, errorCode } = record
  return (
    `"request_id":"${record.id}","trace_id":${text(record.traceId)},"org":"${record.organisationId}","workspace":${text(workspaceId)}` +
    `,"api_key_id":"${record.apiKeyId}","route":"${record.operation}","method":${text(record.method)},"status":${record.status}` +
    `,"outcome":"${record.outcome}","duration_ms":${rounded(record.durationMs)},"upstream_ms":${upstreamMs === null ? 'null' : rounded(upstreamMs)}` +
    `,"provider":${text(record.provider)},"model":${text(record.model)},"stream":${record.stream}` +
    (usage === null ? '' : `,"tokens_in":${usage.inputTokens},"tokens_out":${usage.outputTokens}`) +
    `,"cache":"${record.cacheStatus}","retry_count":${record.retryCount}` +
    (errorCode === null ? '' : `,"error_code":"${errorCode}"`) +
    `,"client_ip":${text(record.clientAddress)}`
  )
}

const text = (value: string | null): string => JSON.stringify(value)

const toShortLine = ({ method, status, requestId, startedAt, clientAddress }: Exchange) => ({
  request_id: requestId,
  method,
  status: status === 0 ? 499 : status,
  duration_ms: rounded(performance.now() - startedAt),
  client_ip: clientAddress,
})

const rounded = (ms: number) => Math.round(ms * 1000) / 1000
