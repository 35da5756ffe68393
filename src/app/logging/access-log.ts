import type { JsonWriter } from '../../lib/json/json-writer.ts'
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
export function openAccessLog({ access: log, accessLines }: Pick<Loggers, 'access' | 'accessLines'>): AccessLog {
  const unwritten = new Set<string>()
  const writeLine = accessLines(writeMembers, 'exchange')
  return {
    journal: (journal) => ({
      maxBodyBytes: journal.maxBodyBytes,
      append(record, bodies) {
        journal.append(record, bodies)
        if (unwritten.delete(record.id)) writeLine(record)
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
function writeMembers(json: JsonWriter, record: ExchangeRecord): void {
  json.member('request_id', record.id)
  json.member('trace_id', record.traceId)
  json.member('org', record.organisationId)
  json.member('workspace', record.workspaceId)
  json.member('api_key_id', record.apiKeyId)
  json.member('route', record.operation)
  json.member('method', record.method)
  json.member('status', record.status)
  json.member('outcome', record.outcome)
  json.member('duration_ms', rounded(record.durationMs))
  json.member('upstream_ms', record.upstreamMs === null ? null : rounded(record.upstreamMs))
  json.member('provider', record.provider)
  json.member('model', record.model)
  json.member('stream', record.stream)
  json.member('tokens_in', record.usage?.inputTokens)
  json.member('tokens_out', record.usage?.outputTokens)
  json.member('cache', record.cacheStatus)
  json.member('retry_count', record.retryCount)
  json.member('error_code', record.errorCode ?? undefined)
  json.member('client_ip', record.clientAddress)
}

const toShortLine = ({ method, status, requestId, startedAt, clientAddress }: Exchange) => ({
  request_id: requestId,
  method,
  status: status === 0 ? 499 : status,
  duration_ms: rounded(performance.now() - startedAt),
  client_ip: clientAddress,
})

const rounded = (ms: number) => Math.round(ms * 1000) / 1000
