import test from 'ava'
import type { Observation } from '../../../../src/gateway/ending/metrics.ts'
import { createMetrics } from '../../../../src/app/metrics/metrics.ts'

const seen: Observation = {
  operation: 'chatComplete',
  method: 'POST',
  status: 200,
  outcome: 'complete',
  provider: 'openai',
  stream: false,
  cacheStatus: 'DISABLED',
  durationMs: 120,
  upstreamMs: 100,
  firstByteMs: 110,
  overheadMs: 0.4,
  usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10, cacheReadTokens: null, cacheWriteTokens: null, reasoningTokens: 2 },
}

const linesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name))

test('an exchange is counted, timed and its tokens added', async (t) => {
  const metrics = createMetrics('1.2.3')
  metrics.record(seen)
  metrics.record({ ...seen, durationMs: 40_000 })
  const text = await metrics.render()
  t.deepEqual(linesOf(text, 'gateway_requests_total'), [
    'gateway_requests_total{route="chatComplete",method="POST",status_class="2xx",provider="openai",stream="false",cache="disabled"} 2',
  ])
  const place = 'route="chatComplete",stream="false"'
  t.true(text.includes(`gateway_request_duration_seconds_bucket{${place},le="0.1"} 0`))
  t.true(text.includes(`gateway_request_duration_seconds_bucket{${place},le="0.25"} 1`))
  t.true(text.includes(`gateway_request_duration_seconds_bucket{${place},le="60"} 2`))
  t.true(text.includes(`gateway_request_duration_seconds_bucket{${place},le="+Inf"} 2`))
  t.true(text.includes(`gateway_request_duration_seconds_sum{${place}} 40.12`))
  t.true(text.includes(`gateway_request_duration_seconds_count{${place}} 2`))
  t.true(text.includes('gateway_upstream_duration_seconds_count{provider="openai"} 2'))
  t.true(text.includes(`gateway_overhead_seconds_bucket{${place},le="0.0005"} 2`))
  t.true(text.includes('gateway_tokens_total{type="input"} 14'))
  t.true(text.includes('gateway_tokens_total{type="reasoning"} 4'))
})

test('what callers send cannot add series', async (t) => {
  const metrics = createMetrics('1.2.3')
  for (let at = 0; at < 10_000; at++) {
    metrics.record({ ...seen, provider: `made-up-${at}`, operation: `made-up-${at}`, cacheStatus: `made-up-${at}`, method: `M${at}` })
  }
  const text = await metrics.render()
  t.deepEqual(linesOf(text, 'gateway_requests_total'), [
    'gateway_requests_total{route="other",method="other",status_class="2xx",provider="other",stream="false",cache="other"} 10000',
  ])
  t.true(text.split('\n').length < 1000)
})

test('reasons of refusals are bounded too', async (t) => {
  const metrics = createMetrics('1.2.3')
  for (let at = 0; at < 1000; at++) metrics.egressBlocked(`reason-${at}`)
  const lines = linesOf(await metrics.render(), 'gateway_egress_blocked_total')
  t.is(lines.length, 201)
  t.true(lines.includes('gateway_egress_blocked_total{reason="other"} 800'))
})

test('figures of others are read at scrape time, and a later owner replaces an earlier one', async (t) => {
  const metrics = createMetrics('1.2.3')
  let running = 3
  metrics.measure('gateway_inflight', () => 99, { kind: 'exchange' })
  metrics.measure('gateway_inflight', () => running, { kind: 'exchange' })
  metrics.measure('gateway_log_spool_dropped_total', () => 5, { kind: 'body' })
  t.deepEqual(linesOf(await metrics.render(), 'gateway_inflight'), ['gateway_inflight{kind="exchange"} 3'])
  running = 4
  const text = await metrics.render()
  t.deepEqual(linesOf(text, 'gateway_inflight'), ['gateway_inflight{kind="exchange"} 4'])
  t.deepEqual(linesOf(text, 'gateway_log_spool_dropped_total'), ['gateway_log_spool_dropped_total{kind="body"} 5'])
})

test('names follow the rules of Prometheus', async (t) => {
  const metrics = createMetrics('1.2.3')
  metrics.record(seen)
  const declared = (await metrics.render()).matchAll(/^# TYPE (\S+) (\S+)$/gm)
  for (const [, name = '', type] of declared) {
    if (!name.startsWith('gateway_')) continue
    t.regex(name, /^[a-z][a-z0-9_]*$/)
    t.is(name.endsWith('_total'), type === 'counter', name)
    if (type === 'histogram') t.regex(name, /_seconds$/)
  }
})
