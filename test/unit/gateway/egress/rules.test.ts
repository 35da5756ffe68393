import test from 'ava'
import { checkAddress, checkUrl } from '../../../../src/gateway/egress/rules.ts'
import type { BlockReason } from '../../../../src/gateway/egress/rules.ts'
import { parseTrustedHosts } from '../../../../src/gateway/egress/trust.ts'
import { ssrfCorpus } from '../../../support/ssrf-corpus.ts'

const nobody = parseTrustedHosts([])

const reasonOf = (url: string, trusted: readonly string[] = []) => {
  const target = checkUrl(url, parseTrustedHosts(trusted))
  return 'reason' in target ? target.reason : null
}

test('the corpus is large, and no URL is in it twice', (t) => {
  t.true(ssrfCorpus.length >= 120, `${ssrfCorpus.length}`)
  t.is(new Set(ssrfCorpus.map(({ url }) => url)).size, ssrfCorpus.length)
})

for (const { url, why, answers } of ssrfCorpus) {
  if (answers !== undefined) continue
  test(`refuses ${JSON.stringify(url.slice(0, 80))} (${why})`, (t) => {
    t.not(reasonOf(url), null)
  })
}

const accepts = test.macro((t, url: string, hostname: string, port: number) => {
  t.like(checkUrl(url, nobody), { hostname, port })
})

test('a provider', accepts, 'https://api.openai.com/v1', 'api.openai.com', 443)
test('upper case', accepts, 'HTTPS://API.OpenAI.com/v1', 'api.openai.com', 443)
test('one trailing dot', accepts, 'https://api.openai.com./v1', 'api.openai.com', 443)
test('a port', accepts, 'https://api.example.com:8443/v1', 'api.example.com', 8443)
test('plain http to a name, whose addresses decide', accepts, 'http://api.example.com/v1', 'api.example.com', 80)
test('a public address', accepts, 'https://1.1.1.1/v1', '1.1.1.1', 443)
test('a public IPv6 address', accepts, 'https://[2606:4700:4700::1111]/v1', '2606:4700:4700::1111', 443)
test('an international name', accepts, 'https://bücher.example/v1', 'xn--bcher-kva.example', 443)
test('a name of one part, whose addresses decide', accepts, 'http://ollama:11434/v1', 'ollama', 11434)
test('an @ in the path', accepts, 'https://api.example.com/@cf/meta', 'api.example.com', 443)

const refuses = test.macro((t, url: string, reason: BlockReason) => {
  t.is(reasonOf(url), reason)
})

test('reason: scheme', refuses, 'ftp://api.example.com/', 'scheme')
test('reason: userinfo', refuses, 'https://a:b@api.example.com/', 'userinfo')
test('reason: fragment', refuses, 'https://api.example.com/#x', 'fragment')
test('reason: port', refuses, 'https://api.example.com:6379/', 'port')
test('reason: name', refuses, 'http://localhost/', 'name')
test('reason: cleartext', refuses, 'http://1.1.1.1/', 'cleartext')
test('reason: address', refuses, 'http://10.0.0.1/', 'address')
test('reason: metadata address', refuses, 'http://169.254.169.254/', 'metadata_address')
test('reason: invalid URL', refuses, 'nonsense', 'invalid_url')

const trusts = test.macro((t, entry: string, allowed: readonly string[], refused: readonly string[]) => {
  for (const url of allowed) t.is(reasonOf(url, [entry]), null, url)
  for (const url of refused) t.not(reasonOf(url, [entry]), null, url)
})

test('trust: a name', trusts, 'localhost', ['http://localhost:11434/', 'http://LOCALHOST./'], ['http://a.localhost/', 'http://127.0.0.1/'])
test('trust: a suffix', trusts, '*.corp', ['http://llm.corp/', 'http://a.b.corp/'], ['http://corp/', 'http://llm.lan/'])
test('trust: a trailing dot', trusts, '*.corp.', ['http://llm.corp/', 'http://llm.corp./'], ['http://corp/'])
test('trust: an address', trusts, '10.1.2.3', ['http://10.1.2.3/', 'http://0x0a010203/'], ['http://10.1.2.4/'])
test(
  'trust: a block',
  trusts,
  '10.0.0.0/8',
  ['http://10.9.9.9/', 'http://[::ffff:10.1.1.1]/'],
  ['http://11.0.0.0.corp/', 'http://127.0.0.1/'],
)
test('trust: IPv6', trusts, '::1', ['http://[::1]:8080/'], ['http://[::2]/', 'http://127.0.0.1/'])
test('trust: IPv6 block', trusts, 'fd00::/8', ['http://[fd12::1]/'], ['http://[fc00::1]/'])
test('trust: one port', trusts, 'localhost:11434', ['http://localhost:11434/'], ['http://localhost:8080/', 'http://localhost/'])
test('trust: one port of an address', trusts, '127.0.0.1:8080', ['http://127.0.0.1:8080/'], ['http://127.0.0.1/'])
test('trust: one port of an IPv6 address', trusts, '[::1]:8080', ['http://[::1]:8080/'], ['http://[::1]/'])
test('trust: one port of a block', trusts, '10.0.0.0/8:9200', ['http://10.0.0.1:9200/'], ['http://10.0.0.1:80/'])
test('trust does not open blocked ports', trusts, 'localhost', ['http://localhost/'], ['http://localhost:6379/'])
test('trust with the port opens it', trusts, 'localhost:6379', ['http://localhost:6379/'], ['http://localhost:5432/'])
test(
  'trust in a cluster name',
  trusts,
  'vllm.ml.svc.cluster.local',
  ['http://vllm.ml.svc.cluster.local/'],
  ['http://x.ml.svc.cluster.local/'],
)
test('trust: a metadata address stays closed', trusts, '169.254.0.0/16', [], ['http://169.254.169.254/', 'http://169.254.1.1/'])
test(
  'trust: all of IPv4 leaves metadata closed',
  trusts,
  '0.0.0.0/0',
  ['http://10.0.0.1/'],
  ['http://169.254.169.254/', 'http://100.100.100.200/'],
)
test(
  'trust: all of IPv6 leaves metadata closed',
  trusts,
  '::/0',
  ['http://[fd12::1]/', 'http://[64:ff9b::a00:1]/'],
  ['http://[fd00:ec2::254]/', 'http://[64:ff9b::a9fe:a9fe]/', 'http://[2002:a9fe:a9fe::1]/', 'http://[fe80::1]/'],
)
test('trust: the metadata name stays closed', trusts, 'metadata.google.internal', [], ['http://metadata.google.internal/'])

for (const entry of [
  '',
  '*',
  '*.',
  '10.0.0.0/33',
  'localhost:0',
  'localhost:99999',
  'http://x',
  'a b',
  'a..b',
  '1.2.3',
  'x:y',
  '300.1.1.1',
]) {
  test(`no entry: ${JSON.stringify(entry)}`, (t) => {
    t.throws(() => parseTrustedHosts([entry]), { message: /is not a host/ })
  })
}

const resolves = test.macro((t, address: string, trusted: readonly string[], expected: BlockReason | null) => {
  const trust = parseTrustedHosts(trusted)
  const target = checkUrl('http://llm.example:8080/', trust)
  t.is('reason' in target ? 'refused' : checkAddress(address, target, trust), expected)
})

test('resolved: public, with http', resolves, '93.184.215.14', [], 'cleartext')
test('resolved: public IPv6, with http', resolves, '2606:4700:4700::1111', [], 'cleartext')
test('resolved: public, with http, the name trusted', resolves, '93.184.215.14', ['llm.example'], null)
test('resolved: public, with http, the address trusted', resolves, '93.184.215.14', ['93.184.215.0/24'], null)
test('resolved: public, with https', (t) => {
  const target = checkUrl('https://llm.example:8443/', nobody)
  t.is('reason' in target ? 'refused' : checkAddress('93.184.215.14', target, nobody), null)
})
test('resolved: private', resolves, '10.0.0.1', [], 'resolved_address')
test('resolved: private, the name trusted', resolves, '10.0.0.1', ['llm.example'], null)
test('resolved: loopback, the suffix trusted', resolves, '127.0.0.1', ['*.example'], null)
test('resolved: carrier-grade NAT, the name trusted', resolves, '100.64.0.1', ['llm.example'], null)
test('resolved: unique local, the name trusted', resolves, 'fd12::1', ['llm.example'], null)
test('resolved: private, the name trusted on another port', resolves, '10.0.0.1', ['llm.example:9090'], 'resolved_address')
test('resolved: private, the address trusted', resolves, '10.0.0.1', ['10.0.0.0/24'], null)
test('resolved: mapped, the address trusted', resolves, '::ffff:10.0.0.1', ['10.0.0.0/24'], null)
test('resolved: metadata, the name trusted', resolves, '169.254.169.254', ['llm.example'], 'resolved_metadata_address')
test('resolved: metadata, the address trusted', resolves, '100.100.100.200', ['100.64.0.0/10'], 'resolved_metadata_address')
test('resolved: NAT64 of metadata, all trusted', resolves, '64:ff9b::a9fe:a9fe', ['llm.example', '::/0'], 'resolved_metadata_address')
test('resolved: multicast, the name trusted', resolves, '224.0.0.1', ['llm.example'], 'resolved_address')
test('resolved: no address', resolves, 'nonsense', ['llm.example'], 'resolved_address')
