import { PassThrough } from 'node:stream'
import test from 'ava'
import { openAccessLog } from '../../../../src/app/logging/access-log.ts'
import { createLoggers } from '../../../../src/app/logging/log.ts'
import type { Exchange } from '../../../../src/gateway/exchange/exchange.ts'
import type { ExchangeRecord } from '../../../../src/gateway/ports.ts'
import { exchangeBodies, exchangeRecord } from '../../../support/journal.ts'

const odd = 'a "quoted"\\ line\n\u2028 \u0000 \ud800 é'

/** Logs one exchange; returns its line. */
function lineOf(more: Partial<ExchangeRecord>, level: 'info' | 'warn' = 'info'): string {
  const stream = new PassThrough()
  const { access, accessLines } = createLoggers({ logLevel: level, logFile: null, version: '1.2.3' }, stream)
  const log = openAccessLog({ access, accessLines })
  const record = exchangeRecord(more)
  log.taken({ requestId: record.id, onceClosed() {} } as unknown as Exchange)
  log.journal({ maxBodyBytes: 0, append: () => {} }).append(record, exchangeBodies(null, null))
  return String(stream.read() ?? '')
}

test('the line of an exchange is JSON, whatever its texts hold', (t) => {
  const texts = { traceId: odd, model: odd, provider: odd, clientAddress: odd, method: odd }
  const line = lineOf({ ...texts, workspaceId: null, upstreamMs: null, errorCode: 'upstream_timeout', durationMs: 1.23456 })
  t.is(line.split('\n').length, 2)
  const { time, ...fields } = JSON.parse(line) as Record<string, unknown>
  t.regex(String(time), /^\d{4}-\d\d-\d\dT/)
  t.like(fields, {
    level: 'info',
    service: 'gatehouse',
    version: '1.2.3',
    log_type: 'access',
    trace_id: odd,
    model: odd,
    provider: odd,
    client_ip: odd,
    method: odd,
    workspace: null,
    upstream_ms: null,
    error_code: 'upstream_timeout',
    duration_ms: 1.235,
    msg: 'exchange',
  })
})

test('an exchange without usage and without an error says neither', (t) => {
  const fields = JSON.parse(lineOf({ usage: null, errorCode: null })) as Record<string, unknown>
  for (const name of ['tokens_in', 'tokens_out', 'error_code']) t.false(name in fields)
})

test('above the level info there is no line', (t) => {
  t.is(lineOf({}, 'warn'), '')
})
