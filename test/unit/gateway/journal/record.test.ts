import test from 'ava'
import { decodeRecord } from '../../../../src/gateway/journal/record.ts'
import { headerBytes } from '../../../../src/gateway/journal/frame.ts'
import type { ExchangeRecord } from '../../../../src/gateway/ports.ts'
import { exchangeRecord, writtenRecord } from '../../../support/journal.ts'

const encoded = (record: ExchangeRecord): string => {
  const { bytes, end } = writtenRecord(record)
  return bytes.toString('utf8', headerBytes, end)
}

const job = { attempt: 0, noted: 'batch_1', provider: 'openai', slug: 'p', providerId: 'an id', host: 'https://api.openai.com' }

test('a record of a process that noted no more than its batch is read, and that process reads the batch of ours', (t) => {
  const fields = JSON.parse(encoded(exchangeRecord({ retryCount: 0, provider: 'openai', providerSlug: 'p', jobs: [job] }))) as unknown[]
  t.is(fields[46], 'batch_1')
  t.deepEqual(decodeRecord(JSON.stringify(fields.slice(0, 47))).jobs, [{ ...job, providerId: null, host: null }])
})

test('a record comes back as it was', (t) => {
  for (const record of [
    exchangeRecord(),
    exchangeRecord({ translation: { dropped: ['seed'], providerError: null } }),
    exchangeRecord({ retryCount: 1, jobs: [job, { ...job, attempt: 1 }] }),
    exchangeRecord({ mirrorOf: 'm', billed: false, config: { slug: 'c', version: 2 } }),
    exchangeRecord({ usage: null, usageSource: 'none', workspaceId: null, stream: true, outcome: 'client_closed', status: 499 }),
    exchangeRecord({ spanId: 's', parentSpanId: 'p', spanName: 'n', userId: 'u', errorCode: 'internal', metadata: { 'ä"\\': '\0\uD800' } }),
  ]) {
    t.deepEqual(decodeRecord(encoded(record)), record)
  }
})

test('every field is written', (t) => {
  const record = exchangeRecord()
  // Before them the layout; the job of the last attempt stands twice.
  t.is((JSON.parse(encoded(record)) as unknown[]).length, Object.keys(record).length + 2)
})

test('another layout is refused', (t) => {
  t.throws(() => decodeRecord('[2]'), { message: /layout 2/ })
})

test('a record of a process that knew no prompts is read', (t) => {
  const { prompt: _, ...older } = exchangeRecord()
  const fields = JSON.parse(encoded({ ...older, prompt: null })) as unknown[]
  t.is(decodeRecord(JSON.stringify(fields.slice(0, 36))).prompt, null)
})
