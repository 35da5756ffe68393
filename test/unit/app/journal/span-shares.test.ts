import test from 'ava'
import { createSpanExporter } from '../../../../src/app/journal/span-exporter.ts'
import { exchangeRecord } from '../../../support/journal.ts'

const [loud, quiet] = ['01890000-0000-7000-8000-00000000000a', '01890000-0000-7000-8000-00000000000b']

test('an organisation of many requests leaves room for the spans of others', async (t) => {
  const sent: string[] = []
  const exporter = createSpanExporter({
    url: 'http://receiver.example',
    headers: {},
    contentType: 'application/json',
    timeoutMs: 1000,
    serviceName: 's',
    serviceVersion: '1',
    egress: {
      async exchange({ body }) {
        sent.push(String(body))
        return { status: 200, headers: {}, text: '{}', bytes: Buffer.from('{}') }
      },
      async close() {},
    },
  })
  // None is sent before this turn ends.
  for (let count = 0; count < 10_000; count += 1) exporter.add(exchangeRecord({ organisationId: loud }))
  for (let count = 0; count < 100; count += 1) exporter.add(exchangeRecord({ organisationId: quiet }))
  await exporter.stop(60_000)
  const spansOf = (owner: string) => sent.join('').split(owner).length - 1
  const [ofLoud, ofQuiet] = [spansOf(loud), spansOf(quiet)]
  t.true(ofLoud > 0 && ofLoud <= 4096, `${ofLoud} of the loud one`)
  t.is(ofQuiet, 100)
})
