import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { once } from 'node:events'
import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { oddStreams } from '../../support/emulator/odd-streams.ts'
import { send, sendJson } from '../../support/http.ts'
import { loopLag } from '../../support/loop-lag.ts'

let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  bed = await startGateway({
    providers: { mine: { customHost: emulator.url } },
    settings: { requestTimeoutMs: 400, streamIdleTimeoutMs: 300 },
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

const auth = { 'x-service-api-key': workspaceKey, 'x-service-provider': '@mine', 'content-type': 'application/json' }
const chat = (emulate: string) => ({ ...auth, 'x-emulate': emulate })
const streamBody = { model: 'm', stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: 'hi' }] }
const emulate = (behaviour: Behaviour) => JSON.stringify(behaviour)

/** Opens a request and gives its answer with the body still coming. */
async function open(path: string, headers: Record<string, string>, body: unknown): Promise<IncomingMessage> {
  const sent = request(`${bed.origin}${path}`, { method: 'POST', headers, agent: false })
  sent.on('error', () => {})
  sent.end(JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

test.serial('a stream comes frame by frame, as the provider sends it, and its usage is read', async (t) => {
  const log = bed.nextLog()
  const response = await open('/v1/chat/completions', chat(emulate({ frames: 5, frameEveryMs: 40 })), streamBody)
  const arrivals: number[] = []
  let text = ''
  response.on('data', (chunk: Buffer) => {
    arrivals.push(performance.now())
    text += chunk.toString()
  })
  await once(response, 'end')
  t.true(arrivals.length >= 5, `${arrivals.length} chunks`)
  t.true((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0) >= 120)
  t.true(text.endsWith('data: [DONE]\n\n'))
  const { record } = await log
  t.true(record.stream)
  t.is(record.outcome, 'complete')
  t.true((record.usage?.outputTokens ?? 0) > 0)
})

for (const [name, parts] of Object.entries(oddStreams))
  test.serial(`an odd stream passes byte for byte: ${name}`, async (t) => {
    const answer = await sendJson(`${bed.origin}/v1/chat/completions`, chat(name), streamBody)
    t.is(answer.body.toString('latin1'), Buffer.concat(parts).toString('latin1'))
  })

const aborts: readonly (readonly [when: string, behaviour: Behaviour, afterHeaders: boolean])[] = [
  ['before the provider answers', { hang: 'before-headers' }, false],
  ['after the headers', { hang: 'after-headers' }, true],
  ['in mid-stream', { frames: 600, frameEveryMs: 5 }, true],
]
for (const [when, behaviour, afterHeaders] of aborts)
  test.serial(`a client that leaves ${when} ends the provider's call within 100 ms`, async (t) => {
    const log = bed.nextLog()
    const closing = emulator.onClose('/chat/completions')
    const arrived = emulator.next('/chat/completions')
    const sent = request(`${bed.origin}/v1/chat/completions`, { method: 'POST', headers: chat(emulate(behaviour)), agent: false })
    sent.on('error', () => {})
    sent.end(JSON.stringify(streamBody))
    await arrived
    if (afterHeaders) {
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.on('error', () => {})
      if (behaviour.frames !== undefined) await once(response, 'data')
    }
    const left = performance.now()
    sent.destroy()
    const received = await closing
    const { complete, at } = await received.closed
    t.false(complete)
    // Client, gateway and provider live in this process: each notices as late as its loop runs.
    t.true(at - left < 100 + 3 * loopLag(), `${at - left} ms`)
    const { record } = await log
    t.is(record.outcome, 'client_closed')
    t.is(bed.gateway.inflight(), 0)
  })

test.serial('clients that leave do no harm to requests beside and after them', async (t) => {
  const own = await startGateway({ providers: { mine: { customHost: emulator.url } } })
  t.teardown(() => own.stop())
  const headers = chat(emulate({ frames: 20, frameEveryMs: 5 }))
  const stays = () => send(`${own.origin}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(streamBody) })
  const leaves = async () => {
    const sent = request(`${own.origin}/v1/chat/completions`, { method: 'POST', headers, agent: false })
    sent.on('error', () => {})
    sent.end(JSON.stringify(streamBody))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.on('error', () => {})
    await once(response, 'data')
    sent.destroy()
  }
  for (let round = 0; round < 3; round += 1) {
    const beside = Array.from({ length: 10 }, stays)
    await Promise.all(Array.from({ length: 10 }, leaves))
    const answers = [...(await Promise.all(beside)), await stays()]
    t.true(answers.every(({ status, text }) => status === 200 && text.endsWith('data: [DONE]\n\n')))
  }
})

test.serial('a client that leaves while it still sends its body leaves nothing behind', async (t) => {
  const log = bed.nextLog()
  const socket = connect(Number(new URL(bed.origin).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${workspaceKey}\r\nx-service-provider: @mine\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model":`,
  )
  await new Promise((resolve) => setImmediate(resolve))
  socket.destroy()
  const { record } = await log
  t.is(record.outcome, 'client_closed')
  t.is(record.status, 499)
})

test.serial('no answer in time is a 504 that says so', async (t) => {
  const started = performance.now()
  const answer = await sendJson(`${bed.origin}/v1/chat/completions`, chat('hang'), streamBody)
  const took = performance.now() - started
  t.is(answer.status, 504)
  t.true(took > 380 && took < 600 + 3 * loopLag(), `${took} ms`)
  t.is(answer.headers['x-should-retry'], 'false')
  const read = await send(`${bed.origin}/v1/files/f`, { headers: chat('hang') })
  t.is(read.status, 504)
  t.is(read.headers['x-should-retry'], undefined)
  t.is((JSON.parse(answer.text) as { error: { code: string } }).error.code, 'upstream_timeout')
})

test.serial('a caller may ask for less time', async (t) => {
  const started = performance.now()
  const answer = await sendJson(`${bed.origin}/v1/chat/completions`, { ...chat('hang'), 'x-service-request-timeout': '100' }, streamBody)
  t.is(answer.status, 504)
  t.true(performance.now() - started < 300)
})

test.serial('an answer that is no stream and drips past its time is cut', async (t) => {
  await t.throwsAsync(
    sendJson(`${bed.origin}/v1/chat/completions`, chat(emulate({ drip: { bytes: 1, everyMs: 50 } })), { ...streamBody, stream: false }),
  )
})

const breaks: readonly (readonly [name: string, behaviour: Behaviour])[] = [
  ['cut off', { frames: 20, frameEveryMs: 5, cutAt: 700 }],
  ['reset', { frames: 20, frameEveryMs: 5, cutAt: 700, cutWith: 'reset' }],
  ['silent', { frames: 20, hang: 'mid-body', hangAt: 700 }],
]
for (const [name, behaviour] of breaks) {
  test.serial(`a stream that is ${name} ends with an error event in whole frames, and without [DONE]`, async (t) => {
    const log = bed.nextLog()
    const answer = await sendJson(`${bed.origin}/v1/chat/completions`, chat(emulate(behaviour)), streamBody)
    t.is(answer.status, 200)
    const frames = answer.text.split('\n\n').filter((frame) => frame !== '')
    for (const frame of frames) t.notThrows(() => JSON.parse(frame.replace(/^data: /, '')) as unknown)
    const last = JSON.parse((frames.at(-1) ?? '').replace(/^data: /, '')) as { error: { code: string; request_id: string } }
    t.true(['upstream_bad_response', 'upstream_unreachable', 'upstream_timeout'].includes(last.error.code), last.error.code)
    t.false(answer.text.includes('[DONE]'))
    const { record } = await log
    t.is(record.outcome, 'incomplete')
    t.is(record.id, last.error.request_id)
  })
  test.serial(`an Anthropic stream that is ${name} ends with an error event of its kind`, async (t) => {
    const answer = await sendJson(`${bed.origin}/v1/messages`, chat(emulate(behaviour)), { ...streamBody, max_tokens: 10 })
    t.regex(answer.text, /event: error\ndata: \{"type":"error","error":\{"type":"[a-z_]+"/)
  })
}

test.serial('a stream of a response that breaks off ends with an event for every kind of client', async (t) => {
  const behaviour = emulate({ frames: 20, frameEveryMs: 2, cutAt: 700 })
  const answer = await sendJson(`${bed.origin}/v1/responses`, chat(behaviour), { model: 'm', input: 'hi', stream: true })
  const [, event = ''] = /\nevent: error\ndata: (.*)\n\n$/.exec(answer.text) ?? []
  t.like(JSON.parse(event), { type: 'error', code: 'upstream_bad_response', param: null, error: { code: 'upstream_bad_response' } })
})

const broken: readonly (readonly [name: string, emulate: string])[] = [
  ['cut in the body', 'cut'],
  ['reset in the body', 'reset'],
  ['shorter than its length', 'long-length'],
]
for (const [name, preset] of broken)
  test.serial(`a JSON answer ${name} is never taken for whole`, async (t) => {
    const log = bed.nextLog()
    await t.throwsAsync(sendJson(`${bed.origin}/v1/chat/completions`, chat(preset), { ...streamBody, stream: false }))
    const { record } = await log
    t.is(record.outcome, 'incomplete')
  })

const garbage: readonly (readonly [name: string, emulate: string])[] = [
  ['no HTTP', 'garbage'],
  ['headers of 2 MB', 'huge-headers'],
  ['a closed connection', 'cut-before-headers'],
]
for (const [name, preset] of garbage)
  test.serial(`a provider that answers with ${name} is a 502 without inner details`, async (t) => {
    const answer = await sendJson(`${bed.origin}/v1/chat/completions`, chat(preset), streamBody)
    t.is(answer.status, 502)
    t.false(/127\.0\.0\.1|ECONN|at \w+ \(/.test(answer.text), answer.text)
  })

/** An answer without the parts that differ between two calls. */
const stable = (bytes: Buffer) => bytes.toString('latin1').replaceAll(/"(id|created)":("[^"]*"|\d+)/g, '')

for (const name of ['html', 'invalid-utf8', 'bad-gzip', 'unauthorized', 'rate-limited', 'server-error'])
  test.serial(`whatever a provider says passes untouched: ${name}`, async (t) => {
    const direct = await send(`${emulator.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-emulate': name },
      body: JSON.stringify({ ...streamBody, stream: false }),
    })
    const passed = await sendJson(`${bed.origin}/v1/chat/completions`, chat(name), { ...streamBody, stream: false })
    t.is(passed.status, direct.status)
    t.is(stable(passed.body), stable(direct.body))
    t.is(passed.headers['retry-after'], direct.headers['retry-after'])
  })

test.serial('a reader that does not read stops the provider too', async (t) => {
  const arrived = emulator.next('/big')
  const socket = connect(Number(new URL(bed.origin).port), '127.0.0.1')
  socket.pause()
  socket.write(
    `GET /v1/big HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${workspaceKey}\r\nx-service-provider: @mine\r\nx-emulate: ${emulate({ size: 200_000_000 })}\r\n\r\n`,
  )
  const received = await arrived
  let before = -1
  while (before !== received.sent) {
    before = received.sent
    await new Promise((resolve) => setTimeout(resolve, 80))
  }
  t.true(received.sent < 50_000_000, `${received.sent} bytes were read from the provider`)
  socket.destroy()
  await received.closed
})

test.serial('a drain waits for what runs, and ends what runs too long in-band', async (t) => {
  const own = await startGateway({ providers: { mine: { customHost: emulator.url } } })
  const sent = request(`${own.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: chat(emulate({ frames: 600, frameEveryMs: 10 })),
    agent: false,
  })
  sent.end(JSON.stringify(streamBody))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  response.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(response, 'data')
  const ended = once(response, 'end')
  t.is(await own.gateway.drain(50), 1)
  await ended
  t.regex(text, /"code":"draining"/)
  t.false(text.includes('[DONE]'))
  await own.stop()
})
