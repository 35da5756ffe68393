import { gzipSync } from 'node:zlib'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { sendTo } from '../../support/egress-answer.ts'
import { loopLag } from '../../support/loop-lag.ts'
import type { RawScript } from '../../support/raw-server.ts'
import { answering, httpAnswer, onRequest, startRawServer } from '../../support/raw-server.ts'

async function start(t: ExecutionContext, script: RawScript) {
  const server = await startRawServer(script)
  const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 2000 })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  return { server, egress, origin: await egress.origin(server.origin, 'custom_host') }
}

const ending: (bytes: string) => RawScript = (bytes) => onRequest((socket) => socket.end(bytes, 'latin1'))

test('header fields come as they were sent: order, case, duplicates, latin1', async (t) => {
  const fields = [
    'Content-Type',
    'text/event-stream',
    'X-Dup',
    'one',
    'x-dup',
    'two',
    'X-DUP',
    'one',
    'Set-Cookie',
    'a=1',
    'Set-Cookie',
    'b=2',
    'x-latin',
    'caf\u00e9',
    'x-empty',
    '',
    'Content-Length',
    '2',
  ]
  const lines = Array.from({ length: fields.length / 2 }, (_, index) => `${fields[index * 2]}: ${fields[index * 2 + 1]}\r\n`).join('')
  const { origin } = await start(t, answering(`HTTP/1.1 299 Odd Reason\r\n${lines}\r\nok`))
  const answer = await sendTo(origin).done
  t.is(answer.status, 299)
  t.is(answer.statusMessage, 'Odd Reason')
  t.deepEqual(answer.rawHeaders, fields)
})

test('header fields that arrive byte by byte are the same', async (t) => {
  const bytes = 'HTTP/1.1 200 OK\r\nX-First: some value\r\nx-second:  blanks around  \r\ncontent-length: 2\r\n\r\nok'
  const whole = await start(t, answering(bytes))
  const { origin } = await start(
    t,
    onRequest((socket) => {
      socket.setNoDelay(true)
      let at = 0
      const next = () => {
        if (at < bytes.length) socket.write(bytes.charAt(at), () => setImmediate(next))
        at += 1
      }
      next()
    }),
  )
  const answer = await sendTo(origin).done
  t.deepEqual(answer.rawHeaders, (await sendTo(whole.origin).done).rawHeaders)
  t.is(answer.body.toString(), 'ok')
})

test('informational answers and trailers', async (t) => {
  const { origin } = await start(
    t,
    answering(
      'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n' +
        'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: abc\r\nx-Sum: def\r\n\r\n',
    ),
  )
  const answer = await sendTo(origin).done
  t.deepEqual(answer.information, [
    { status: 103, rawHeaders: ['Link', '</a>; rel=preload'] },
    { status: 102, rawHeaders: [] },
  ])
  t.is(answer.body.toString(), 'ok')
  t.deepEqual(answer.trailers, ['X-Sum', 'abc', 'x-Sum', 'def'])
  t.is(answer.error, null)
})

test('gzip, good or bad, is left as it is', async (t) => {
  const bytes = Buffer.concat([gzipSync('hello').subarray(0, 12), Buffer.from([0, 255, 128, 13, 10])])
  const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`)
  const { origin } = await start(t, answering(Buffer.concat([head, bytes])))
  t.deepEqual((await sendTo(origin).done).body, bytes)
})

test('HEAD: a content-length and no body', async (t) => {
  const { origin } = await start(t, answering('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'))
  const answer = await sendTo(origin, { method: 'HEAD' }).done
  t.is(answer.error, null)
  t.deepEqual(answer.rawHeaders, ['content-length', '1000'])
  t.is(answer.body.length, 0)
})

for (const status of ['204 No Content', '304 Not Modified']) {
  test(`${status}: no body, and the connection goes on`, async (t) => {
    const { origin, server } = await start(t, answering(`HTTP/1.1 ${status}\r\netag: "x"\r\n\r\n`))
    for (let count = 0; count < 2; count += 1) t.is((await sendTo(origin).done).error, null)
    t.is(server.connections, 1)
  })
}

test('a body that ends with the connection', async (t) => {
  const { origin } = await start(t, ending('HTTP/1.0 200 OK\r\n\r\nall of it'))
  const answer = await sendTo(origin).done
  t.is(answer.body.toString(), 'all of it')
  t.is(answer.error, null)
})

test('connections are used again, and not after connection: close', async (t) => {
  const { origin, server } = await start(t, answering(httpAnswer('ok')))
  for (let count = 0; count < 5; count += 1) t.is((await sendTo(origin).done).status, 200)
  t.is(server.connections, 1)
  const closing = await start(t, ending(httpAnswer('ok', 'connection: close\r\n')))
  for (let count = 0; count < 3; count += 1) t.is((await sendTo(closing.origin).done).status, 200)
  t.is(closing.server.connections, 3)
})

test('bytes after the answer never become the next answer', async (t) => {
  const { origin } = await start(t, answering(httpAnswer('ok') + httpAnswer('poison')))
  for (let count = 0; count < 3; count += 1) {
    const answer = await sendTo(origin).done
    if (answer.error === null) t.is(answer.body.toString(), 'ok')
    await new Promise(setImmediate)
  }
})

const fails = test.macro(async (t, script: RawScript, code: string, message: RegExp) => {
  const { origin, server } = await start(t, script)
  const answer = await sendTo(origin, { timeouts: { firstByteMs: 2000, idleMs: 2000 } }).done
  t.like(answer.error, { code })
  t.regex(answer.error?.message ?? '', message)
  t.notRegex(answer.error?.message ?? '', /127\.0\.0\.1|:\d{4}/)
  t.not(answer.error?.cause, undefined)
  t.is(server.connections, 1)
})

const bad = 'upstream_bad_response'
test('garbage instead of a status line', fails, ending('SSH-2.0-OpenSSH_9.2\r\n'), bad, /not valid HTTP/)
test('an HTTP/0.9 answer', fails, ending('<html>hello</html>'), bad, /not valid HTTP/)
test('a 2 MB header', fails, answering(`HTTP/1.1 200 OK\r\nx-big: ${'a'.repeat(2 << 20)}\r\n\r\n`), bad, /more than 64 KB of headers/)
test('endless header fields', fails, answering(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(50_000)}\r\n`), bad, /more than 64 KB of headers/)
test(
  'a content-length longer than the body',
  fails,
  ending('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort'),
  bad,
  /broke off|another length/,
)
test('a body cut between chunks', fails, ending('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n'), bad, /broke off/)
test('a body cut within a chunk', fails, ending('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nok'), bad, /broke off/)
test(
  'a chunk size that lies',
  fails,
  answering('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\ntoo long\r\n0\r\n\r\n'),
  bad,
  /not valid HTTP/,
)
test('a chunk size that is none', fails, answering('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'), bad, /not valid HTTP/)
test(
  'both lengths at once',
  fails,
  answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
  bad,
  /not valid HTTP|differs from its header/,
)
test(
  'two content-lengths',
  fails,
  answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok'),
  bad,
  /not valid HTTP|differs from its header/,
)
test(
  'an upgrade nobody asked for',
  fails,
  answering('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  bad,
  /not asked for/,
)
// undici refuses it; we never send `Expect`, so that no server has a reason to send it.
test('an unexpected 100 Continue', fails, answering(`HTTP/1.1 100 Continue\r\n\r\n${httpAnswer('ok')}`), bad, /not asked for/)
test(
  'a close without an answer',
  fails,
  onRequest((socket) => socket.end()),
  'upstream_unreachable',
  /closed the connection without an answer/,
)
test(
  'a reset without an answer',
  fails,
  onRequest((socket) => socket.resetAndDestroy()),
  'upstream_unreachable',
  /reset the connection|without an answer/,
)
test(
  'a reset in the middle',
  fails,
  onRequest((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok', () => setTimeout(() => socket.resetAndDestroy(), 20))
  }),
  bad,
  /broke off/,
)

test('a status of 000', async (t) => {
  const { origin } = await start(t, answering('HTTP/1.1 000 What\r\ncontent-length: 0\r\n\r\n'))
  t.like((await sendTo(origin).done).error, { code: bad })
})

test('a body cut at each byte is never called complete', async (t) => {
  const whole = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
  let cut = 0
  const { origin } = await start(
    t,
    onRequest((socket) => socket.end(whole.slice(0, cut))),
  )
  for (cut = 1; cut < whole.length; cut += 1) {
    const answer = await sendTo(origin).done
    t.not(answer.error, null, `cut at ${cut}`)
  }
  t.is((await sendTo(origin).done).error, null)
})

for (const method of ['onInformation', 'onHeaders', 'onData', 'onEnd'] as const) {
  test(`what ${method} throws comes back as an error, once`, async (t) => {
    const { origin } = await start(t, answering(`HTTP/1.1 103 Early Hints\r\n\r\n${httpAnswer('ok')}`))
    const errors: Error[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const handler = {
      onInformation() {},
      onHeaders() {},
      onData() {},
      onEnd() {},
      onError(error: Error) {
        errors.push(error)
        resolve()
      },
      [method]() {
        throw new Error('a fault of ours')
      },
    }
    origin.send({ method: 'GET', path: '/', headers: [], body: null, timeouts: { firstByteMs: 2000, idleMs: 2000 } }, handler)
    await promise
    await new Promise(setImmediate)
    t.is(errors.length, 1)
    t.like(errors[0], { code: 'internal', cause: { message: 'a fault of ours' } })
    t.is((await sendTo(origin).done).status, 200)
  })
}

test('nobody listens', async (t) => {
  const { origin, server } = await start(t, () => {})
  await server.close()
  const { error } = await sendTo(origin).done
  t.like(error, { code: 'upstream_unreachable', message: 'The provider could not be reached: it refused the connection.' })
})

test('a small exchange: text, folded headers, the limit of 256 KB, the total time', async (t) => {
  const { egress, server } = await start(
    t,
    onRequest((socket, count) => {
      if (count === 0) socket.write(httpAnswer('{"a":"é"}', 'X-A: 1\r\nx-a: 2\r\nSet-Cookie: c\r\n'))
      else if (count === 1) socket.write(httpAnswer('x'.repeat(256 * 1024 + 1)))
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nx')
    }),
  )
  const request = {
    url: `${server.origin}/token?a=1`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
    timeoutMs: 10_000,
  } as const
  const small = await egress.exchange(request)
  t.is(small.status, 200)
  t.is(small.text, '{"a":"é"}')
  t.is(small.headers['x-a'], '1, 2')
  t.deepEqual(small.headers['set-cookie'], ['c'])
  t.regex(
    server.received[0] ?? '',
    /^POST \/token\?a=1 HTTP\/1\.1\r\n[^]*Content-Type: application\/json\r\ncontent-length: 2\r\n\r\n\{\}$/,
  )
  await t.throwsAsync(egress.exchange({ ...request, body: '' }), { message: 'The host sent more than 256 KB.' })
  const hung = await start(
    t,
    onRequest((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nx')),
  )
  const startedAt = performance.now()
  await t.throwsAsync(hung.egress.exchange({ ...request, url: hung.server.origin, timeoutMs: 400 }), {
    message: 'The host did not answer completely within 400 ms.',
  })
  const ms = performance.now() - startedAt
  t.true(ms >= 398 && ms < 500 + loopLag(), `${ms}`)
})
