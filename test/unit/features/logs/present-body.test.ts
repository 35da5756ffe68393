import test from 'ava'
import zlib from 'node:zlib'
import { presentBody, type BodyView, type StoredBody } from '../../../../src/features/logs/present-body.ts'

const presented = test.macro({
  async exec(t, stored: Partial<StoredBody>, body: unknown, encoding: BodyView['body_encoding']) {
    const given = { bytes: null, truncated: false, contentEncoding: undefined, ...stored }
    t.deepEqual(await presentBody(given), { body, body_encoding: encoding, body_truncated: given.truncated })
  },
  title: (name = '') => `body: ${name}`,
})

const json = '{"a":["ä",1]}'
const value = { a: ['ä', 1] }
const bytes = Buffer.from(json)
const binary = Buffer.from([0xff, 0xd8, 0x00])
const long = Buffer.from(JSON.stringify({ text: Array.from({ length: 3000 }, (_, index) => `word ${index}`).join(' ') }))
const deep = Buffer.from('['.repeat(5000) + ']'.repeat(5000))

test('none', presented, {}, null, null)
test('JSON', presented, { bytes }, value, 'json')
test('JSON after white space', presented, { bytes: Buffer.from(`\n ${json}`) }, value, 'json')
test('text', presented, { bytes: Buffer.from('data: {}\n\n') }, 'data: {}\n\n', 'text')
test('a bare number is text', presented, { bytes: Buffer.from('42') }, '42', 'text')
test('empty', presented, { bytes: Buffer.alloc(0) }, '', 'text')
test('bytes', presented, { bytes: binary }, binary.toString('base64'), 'base64')
test('JSON too deep to be sent on', presented, { bytes: deep }, deep.toString(), 'text')
test('a key that reaches a prototype', presented, { bytes: Buffer.from('{"__proto__":1}') }, '{"__proto__":1}', 'text')
test('gzip', presented, { bytes: zlib.gzipSync(bytes), contentEncoding: 'gzip' }, value, 'json')
test('deflate', presented, { bytes: zlib.deflateSync(bytes), contentEncoding: 'deflate' }, value, 'json')
test('br', presented, { bytes: zlib.brotliCompressSync(bytes), contentEncoding: 'BR' }, value, 'json')
test('zstd', presented, { bytes: zlib.zstdCompressSync(bytes), contentEncoding: 'zstd' }, value, 'json')
test('an unknown encoding', presented, { bytes, contentEncoding: 'identity' }, value, 'json')
test('not what its header says', presented, { bytes, contentEncoding: 'gzip' }, value, 'json')
test('cut in a character', presented, { bytes: Buffer.from('aä').subarray(0, 2), truncated: true }, 'a', 'text')
test('cut between characters', presented, { bytes: Buffer.from('aä'), truncated: true }, 'aä', 'text')

for (const [name, compressed] of Object.entries({
  gzip: zlib.gzipSync(long),
  deflate: zlib.deflateSync(long),
  br: zlib.brotliCompressSync(long),
  zstd: zlib.zstdCompressSync(long),
})) {
  test(`${name} that was cut never throws`, async (t) => {
    const cut = compressed.subarray(0, Math.floor(compressed.length / 2))
    const view = await presentBody({ bytes: cut, truncated: true, contentEncoding: name })
    t.true(view.body_encoding === 'base64' || (typeof view.body === 'string' && long.toString().startsWith(view.body)))
  })
}

test('gzip that was cut shows what can be read', async (t) => {
  const cut = zlib.gzipSync(long).subarray(0, 3000)
  const { body, body_encoding: encoding } = await presentBody({ bytes: cut, truncated: true, contentEncoding: 'gzip' })
  t.is(encoding, 'text')
  t.true(typeof body === 'string' && body.length > 3000 && long.toString().startsWith(body))
})

test('a bomb is not inflated', async (t) => {
  const bomb = zlib.gzipSync(Buffer.alloc(50 * 1024 * 1024))
  t.like(await presentBody({ bytes: bomb, truncated: false, contentEncoding: 'gzip' }), {
    body: bomb.toString('base64'),
    body_encoding: 'base64',
  })
})
