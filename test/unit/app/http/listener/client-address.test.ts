import type { IncomingMessage } from 'node:http'
import test from 'ava'
import { clientAddressOf, clientCountryOf } from '../../../../../src/app/http/listener/client-address.ts'

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

const tells = test.macro<[readonly string[], string, string | undefined, string]>({
  exec(t, trusted, peer, forwarded, expected) {
    t.is(clientAddressOf(trusted)(from(peer, forwarded)), expected)
  },
  title: (_, trusted, peer, forwarded, expected) => `[${trusted.join()}] ${peer} for ${forwarded}: ${expected}`,
})

test(tells, [], '203.0.113.9', undefined, '203.0.113.9')
test(tells, [], '203.0.113.9', '10.0.0.1', '203.0.113.9')
test(tells, [], '::ffff:203.0.113.9', undefined, '203.0.113.9')
test(tells, ['10.0.0.0/8'], '203.0.113.9', '198.51.100.1', '203.0.113.9')
test(tells, ['10.0.0.0/8'], '10.1.2.3', '198.51.100.1', '198.51.100.1')
test(tells, ['10.0.0.0/8'], '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1')
test(tells, ['10.0.0.0/8'], '10.1.2.3', '1.1.1.1, 198.51.100.1, 10.9.9.9', '198.51.100.1')
test(tells, ['10.0.0.0/8'], '10.1.2.3', '1.1.1.1, nonsense, 198.51.100.1', '198.51.100.1')
test(tells, ['10.0.0.0/8'], '10.1.2.3', 'nonsense', '10.1.2.3')
test(tells, ['10.0.0.0/8'], '10.1.2.3', undefined, '10.1.2.3')
test(tells, ['10.0.0.0/8'], '10.1.2.3', '10.2.2.2, 10.3.3.3', '10.2.2.2')
test(tells, ['10.1.2.3'], '10.1.2.3', '198.51.100.1', '198.51.100.1')
test(tells, ['fd00::/8'], 'fd00::1', '2001:db8::7', '2001:db8::7')

for (const [written, read] of [
  ['198.51.100.1:4711', '198.51.100.1'],
  ['[2001:db8::7]:443', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['"[2001:db8::7]:443"', '2001:db8::7'],
  ['2001:db8::7', '2001:db8::7'],
  ['2001:db8::7%eth0', '2001:db8::7'],
  ['::FFFF:198.51.100.1', '198.51.100.1'],
  ['[::ffff:198.51.100.1]:80', '198.51.100.1'],
  ['203.0.113.1, 198.51.100.1:4711, 10.9.9.9:80', '198.51.100.1'],
  ['unknown, 198.51.100.1, [fd00::1]:99, 10.9.9.9', '198.51.100.1'],
  ['1.1.1.1, 198.51.100.1:123456', '10.1.2.3'],
  ['1.1.1.1, [198.51.100.1', '10.1.2.3'],
  ['1.1.1.1, _hidden', '10.1.2.3'],
] as const)
  test(tells, ['10.0.0.0/8', 'fd00::/8'], '10.1.2.3', written, read)

const country = (peer: string, headers: Readonly<Record<string, string>>, trusted = ['10.0.0.0/8']) =>
  clientCountryOf(trusted)({ socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage)

test('a country is told by trusted proxies only', (t) => {
  t.is(country('10.1.2.3', { 'cf-ipcountry': 'de' }), 'DE')
  t.is(country('::ffff:10.1.2.3', { 'cf-ipcountry': '??', 'x-country-code': 'FR' }), 'FR')
  t.is(country('10.1.2.3', {}), null)
  t.is(country('203.0.113.9', { 'cf-ipcountry': 'DE' }), null)
  t.is(country('10.1.2.3', { 'cf-ipcountry': 'DE' }, []), null)
})
