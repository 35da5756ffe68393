import { once } from 'node:events'
import { request as send, type IncomingMessage } from 'node:http'
import test from 'ava'
import { startEmulator, type Echo, type Emulator } from '../../support/emulator/emulator.ts'
import { oddStreams, type OddStream } from '../../support/emulator/odd-streams.ts'

let emulator: Emulator
test.before(async () => {
  emulator = await startEmulator()
})
test.after.always(() => emulator.stop())

interface Answered {
  readonly status: number | undefined
  readonly chunks: readonly Buffer[]
  readonly broken: boolean
  readonly response: IncomingMessage
}

async function post(path: string, headers: Record<string, string> = {}, body = '{"model":"m"}'): Promise<Answered> {
  const request = send(emulator.url + path, { method: 'POST', headers, agent: false })
  const [response] = (await once(request.end(body), 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  let broken = false
  response.on('error', () => (broken = true))
  await new Promise((resolve) => response.once('close', resolve))
  return { status: response.statusCode, chunks, broken, response }
}

const relays = test.macro({
  title: (_, name: OddStream) => `the odd stream ${name} arrives byte for byte`,
  async exec(t, name: OddStream) {
    const { chunks } = await post('/chat/completions', { 'x-emulate': name })
    t.deepEqual(Buffer.concat(chunks), Buffer.concat(oddStreams[name]))
  },
})
for (const name of Object.keys(oddStreams) as OddStream[]) test(relays, name)

test('a character split between two writes arrives in two chunks', async (t) => {
  const { chunks } = await post('/chat/completions', { 'x-emulate': 'split-in-character' })
  t.is(chunks.length, 2)
})

test('cut breaks the connection after exactly that many bytes', async (t) => {
  const { chunks, broken } = await post('/chat/completions', { 'x-emulate': '{"cutAt":33}' })
  t.is(Buffer.concat(chunks).length, 33)
  t.true(broken)
})

test('a length that is too long breaks the answer', async (t) =>
  t.true((await post('/models/echo', { 'x-emulate': 'long-length' })).broken))

test('echo gives back what came', async (t) => {
  const { chunks } = await post('/echo/a?b=%20c', { 'X-MiXed': 'yes' }, 'bytes')
  const echo = JSON.parse(Buffer.concat(chunks).toString()) as Echo
  t.is(echo.url, '/v1/echo/a?b=%20c')
  t.true(echo.rawHeaders.includes('X-MiXed'))
  t.is(Buffer.from(echo.base64, 'base64').toString(), 'bytes')
})

test('a rule serves as often as it says, then the normal answer', async (t) => {
  emulator.script({ path: '/ruled/embeddings', times: 2, behaviour: { status: 503 } })
  const statuses = [await post('/ruled/embeddings'), await post('/ruled/embeddings'), await post('/ruled/embeddings')].map(
    ({ status }) => status,
  )
  t.deepEqual(statuses, [503, 503, 200])
})

test('a client that leaves is seen', async (t) => {
  const arrived = emulator.next('/responses')
  const left = emulator.onClose('/responses')
  const request = send(`${emulator.url}/responses?emulate=hang`, { method: 'POST', agent: false }).on('error', () => {})
  request.end('{}')
  const received = await arrived
  request.destroy()
  t.is(await left, received)
  t.false((await received.closed).complete)
})

test('an unknown behaviour shows as a status that nobody expects', async (t) => {
  t.is((await post('/embeddings', { 'x-emulate': 'no-such-thing' })).status, 599)
})
