import type { Logger } from 'pino'
import type { ExchangeRecord, Journal } from '../../gateway/ports.ts'
import type { Exchange } from '../../gateway/exchange/exchange.ts'
import type { Gateway } from '../../gateway/gateway.ts'

/** The access log of the data plane: one line an exchange, whether it got as far as a record or not. */
export interface AccessLog {
  /** The journal, which also writes the line of every exchange that it records. */
  journal(journal: Journal): Journal
  /** The gateway, whose exchanges without a record (no valid key) get a line when they end. */
  gateway(gateway: Gateway): Gateway
}

/** Opens the access log on `log`. */
export function openAccessLog(log: Logger): AccessLog {
  const unwritten = new Set<string>()
  return {
    journal: (journal) => ({
      maxBodyBytes: journal.maxBodyBytes,
      append(record, bodies) {
        journal.append(record, bodies)
        if (unwritten.delete(record.id)) log.info(toLine(record), 'exchange')
      },
    }),
    gateway: (gateway) => ({
      ...gateway,
      handle(exchange) {
        unwritten.add(exchange.requestId)
        exchange.res.once('close', () => {
          if (unwritten.delete(exchange.requestId)) log.info(toShortLine(exchange), 'exchange')
        })
        gateway.handle(exchange)
      },
    }),
  }
}

/** Named fields only: no header, no body, no query, which may hold a key. */
const toLine = (record: ExchangeRecord) => ({
  request_id: record.id,
  trace_id: record.traceId,
  org: record.organisationId,
  workspace: record.workspaceId,
  api_key_id: record.apiKeyId,
  route: record.operation,
  method: record.method,
  status: record.status,
  outcome: record.outcome,
  duration_ms: rounded(record.durationMs),
  upstream_ms: record.upstreamMs === null ? null : rounded(record.upstreamMs),
  provider: record.provider,
  model: record.model,
  stream: record.stream,
  tokens_in: record.usage?.inputTokens,
  tokens_out: record.usage?.outputTokens,
  cache: record.cacheStatus,
  retry_count: record.retryCount,
  error_code: record.errorCode ?? undefined,
  client_ip: record.clientAddress,
})

const toShortLine = ({ req, res, requestId, startedAt, clientAddress }: Exchange) => ({
  request_id: requestId,
  method: req.method,
  status: res.headersSent ? res.statusCode : 499,
  duration_ms: rounded(performance.now() - startedAt),
  client_ip: clientAddress,
})

const rounded = (ms: number) => Math.round(ms * 1000) / 1000
