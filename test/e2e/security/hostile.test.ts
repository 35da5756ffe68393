import { connect } from 'node:net'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type RawAnswer, send } from '../../support/http.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { onRequest, startRawServer } from '../../support/raw-server.ts'
import { residentBytes } from '../../support/resident.ts'

let emulator: Emulator
let gatehouse: Gatehouse

test.before(async () => {
  emulator = await startEmulator()
  gatehouse = await startGatehouse()
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
})

/** A request whose answer is these bytes; null when the answer broke off. */
function answered(raw: string): Promise<RawAnswer | null> {
  const remove = emulator.script({ path: '/hostile', times: 1, behaviour: { raw } })
  const headers = { 'x-service-api-key': workspaceKey, 'x-service-provider': 'openai', 'x-service-custom-host': emulator.url }
  return send(`${gatehouse.origin}/v1/hostile`, { headers })
    .catch(() => null)
    .finally(remove)
}

const ok = 'content-length: 2\r\n\r\nok'

/** Answers by which a provider may try to break the gateway; `null`: breaking off is an answer too. */
const answers: Readonly<Record<string, readonly [raw: string, ...expected: readonly (number | null)[]]>> = {
  'a control character in the reason': [`HTTP/1.1 200 O\x01K\r\n${ok}`, 200, 502],
  'a DEL in the reason': [`HTTP/1.1 200 O\x7fK\r\n${ok}`, 200, 502],
  'bytes above ASCII in the reason': [`HTTP/1.1 200 \xe9\xff\r\n${ok}`, 200, 502],
  'no reason at all': [`HTTP/1.1 200\r\n${ok}`, 200, 502],
  'a NUL in a header': [`HTTP/1.1 200 OK\r\nx-a: b\0c\r\n${ok}`, 502],
  'a DEL in a header': [`HTTP/1.1 200 OK\r\nx-a: b\x7fc\r\n${ok}`, 200, 502],
  'a folded header': [`HTTP/1.1 200 OK\r\nx-a: b\r\n c\r\n${ok}`, 200, 502],
  'a header without a name': [`HTTP/1.1 200 OK\r\n: b\r\n${ok}`, 502],
  'bare line feeds': [`HTTP/1.1 200 OK\ncontent-length: 2\n\nok`, 200, 502],
  'the status 999': [`HTTP/1.1 999 Hm\r\n${ok}`, 999, 502],
  'the status 099': [`HTTP/1.1 099 Hm\r\n${ok}`, 502],
  'the status 000': [`HTTP/1.1 000 Hm\r\n${ok}`, 502],
  'an upgrade that nobody asked for': ['HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nok', 502],
  'a hint that is no link': [`HTTP/1.1 103 Early\r\nlink: nonsense\r\n\r\nHTTP/1.1 200 OK\r\n${ok}`, 200, 502],
  'a hint with a broken link': [`HTTP/1.1 103 Early\r\nlink: <\xe9>; rel=\x7f\r\n\r\nHTTP/1.1 200 OK\r\n${ok}`, 200, 502],
  'a thousand hints': [`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000)}HTTP/1.1 200 OK\r\n${ok}`, 200, 502],
  'a length and chunks': ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 502],
  'two lengths': [`HTTP/1.1 200 OK\r\ncontent-length: 3\r\n${ok}`, 502],
  'a length that is no number': ['HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\nok', 502],
  'a length that Connection takes away': [`HTTP/1.1 200 OK\r\nconnection: content-length\r\n${ok}`, 200],
  'a chunk that is no chunk': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n', 502, null],
  'a trailer with a DEL': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-a: b\x7fc\r\n\r\n', 200, 502, null],
  'a trailer that is a length': [
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\ncontent-length: 9\r\n\r\n',
    200,
    502,
    null,
  ],
  'a body where there is none': [`HTTP/1.1 204 No Content\r\n${ok}`, 204, 502],
  'a second answer behind the first': [`HTTP/1.1 200 OK\r\n${ok}HTTP/1.1 200 OK\r\nx-poison: 1\r\n${ok}`, 200],
  'an event stream of one endless line': [
    `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ${'a'.repeat(3_000_000)}`,
    200,
    null,
  ],
  'JSON a million levels deep': [
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n${'['.repeat(1_000_000)}`,
    200,
  ],
  'gzip that is none': [`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n${ok}`, 200],
}

for (const [name, [raw, ...expected]] of Object.entries(answers)) {
  test.serial(`a provider that sends ${name} harms nobody`, async (t) => {
    const answer = await answered(raw)
    t.true(expected.includes(answer?.status ?? null), `${answer?.status} ${answer?.text.slice(0, 300)}`)
    t.notRegex(answer?.rawHeaders.join() ?? '', /poison/)
    const next = await send(`${gatehouse.origin}/v1/models`, {
      headers: { 'x-service-api-key': workspaceKey, 'x-service-provider': 'openai', 'x-service-custom-host': emulator.url },
    })
    t.is(next.status, 200)
    t.is((JSON.parse(next.text) as { object: string }).object, 'list')
    t.is(gatehouse.process.exitCode, null)
    t.notRegex(gatehouse.output(), /"level":"(?:error|fatal)"/)
  })
}

test('a provider does not speak in our name', async (t) => {
  const own = ['x-service-provider', 'x-service-trace-id', 'x-service-request-id', 'x-service-cache-status', 'x-service-anything']
  const lines = own.map((name) => `${name}: forged\r\n`).join('')
  const answer = await answered(
    `HTTP/1.1 200 OK\r\n${lines}set-cookie: a=forged\r\nstrict-transport-security: forged\r\nalt-svc: forged\r\n${ok}`,
  )
  t.is(answer?.status, 200)
  t.notRegex(answer?.rawHeaders.join('\n') ?? '', /forged/)
})

const hint = `HTTP/1.1 103 Early Hints\r\nlink: </${'a'.repeat(4000)}>; rel=preload\r\n\r\n`

test('providers that send hints without end to callers who do not read fill no memory, and are told off', async (t) => {
  const flood = await startRawServer(
    onRequest((socket) => {
      const write = () => {
        while (!socket.destroyed && socket.write(hint));
      }
      socket.on('drain', write)
      write()
    }),
  )
  t.teardown(() => flood.close())
  const before = await residentBytes(gatehouse)
  const sockets = Array.from({ length: 4 }, () => {
    const socket = connect(Number(new URL(gatehouse.origin).port), '127.0.0.1')
    socket.on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.pause()
    socket.write(
      `GET /v1/x HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${workspaceKey}\r\nx-service-provider: openai\r\nx-service-custom-host: ${flood.origin}\r\n\r\n`,
    )
    return socket
  })
  await eventually(() => flood.connections >= 4 && flood.open.size === 0, 30_000, 'the end of the floods')
  t.true((await residentBytes(gatehouse)) - before < 64 * 1024 * 1024)
  for (const socket of sockets) {
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.resume()
    await eventually(() => text.includes('upstream_bad_response'), 30_000, 'the answer')
    t.true((text.match(/HTTP\/1\.1 103 /g) ?? []).length <= 8)
    t.regex(text, /HTTP\/1\.1 502 /)
  }
})
