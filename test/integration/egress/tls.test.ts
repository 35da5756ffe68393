import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { hasOpenssl, makeAuthority, makeCertificate } from '../../support/certificates.ts'
import type { Certificate } from '../../support/certificates.ts'
import { sendTo } from '../../support/egress-answer.ts'
import { answering, httpAnswer, startRawServer } from '../../support/raw-server.ts'

const withOpenssl = hasOpenssl ? test : test.skip
const authority = hasOpenssl ? makeAuthority('Egress test authority') : null
if (authority !== null) setDefaultCACertificates([...getCACertificates('default'), authority.cert])

async function start(t: ExecutionContext, certificate: Certificate) {
  const seen: { servername: string | false | null; alpn: string | false | null; reused: boolean }[] = []
  const script = answering(httpAnswer('ok'))
  const server = await startRawServer(
    (socket, index) => {
      if ('servername' in socket && 'alpnProtocol' in socket && 'isSessionReused' in socket) {
        const tls = socket as TLSSocket & { servername: string | false | null }
        seen.push({ servername: tls.servername, alpn: tls.alpnProtocol, reused: tls.isSessionReused() })
      }
      script(socket, index)
    },
    { tls: { cert: certificate.cert, key: certificate.key, ALPNProtocols: ['h2', 'http/1.1'] } },
  )
  const egress = createEgress({
    trustedHosts: ['*.test', '127.0.0.1'],
    connectTimeoutMs: 5000,
    resolve: async () => [{ address: '127.0.0.1' }],
  })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  return { egress, server, seen }
}

const known = authority === null ? null : makeCertificate(authority, 'tls.test')

withOpenssl('a known authority and the right name: HTTP/1.1, with the name in the handshake', async (t) => {
  if (known === null) return
  const { egress, server, seen } = await start(t, known)
  const origin = await egress.origin(`https://tls.test:${server.port}`, 'custom_host')
  const host = `tls.test:${server.port}`
  // A Host header of one's own must not change the name that is asked for.
  for (const headers of [[], ['Host', host], []]) t.is((await sendTo(origin, { headers }).done).body.toString(), 'ok')
  t.deepEqual(seen, [{ servername: 'tls.test', alpn: 'http/1.1', reused: false }])
})

const fails = test.macro(async (t: ExecutionContext, make: () => Certificate, host: string, message: string) => {
  const { egress, server } = await start(t, make())
  const origin = await egress.origin(`https://${host}:${server.port}`, 'custom_host')
  const { error } = await sendTo(origin).done
  t.like(error, { code: 'upstream_unreachable', message: `${isIP(host) === 0 ? host : 'The provider'} could not be reached: ${message}.` })
  t.deepEqual(
    server.received.filter((text) => text !== ''),
    [],
    'nothing is sent to whom we do not know',
  )
})

if (authority !== null && known !== null) {
  test('the wrong name', fails, () => known, 'other.test', 'its TLS certificate is for another name')
  test('an address instead of the name', fails, () => known, '127.0.0.1', 'its TLS certificate is for another name')
  test(
    'an unknown authority',
    fails,
    () => makeCertificate(makeAuthority('Stranger'), 'tls.test'),
    'tls.test',
    'its TLS certificate comes from an unknown authority',
  )
  test('a self-signed certificate', fails, () => makeAuthority('tls.test'), 'tls.test', 'its TLS certificate is self-signed')
}

test('plain HTTP where TLS was expected', async (t) => {
  const server = await startRawServer((socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
  const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 5000 })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  const { error } = await sendTo(await egress.origin(`https://127.0.0.1:${server.port}`, 'custom_host')).done
  t.like(error, { code: 'upstream_unreachable' })
  t.regex(error?.message ?? '', /the TLS connection failed/)
})
