import { createHash } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { digestOf, hashed } from '../../../../src/features/log-exports/digest.ts'

const expected = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function digestInPieces(pieces: readonly Uint8Array[]): Promise<string> {
  let state = await hashed(null, new Uint8Array())
  for (const piece of pieces) state = await hashed(state, piece)
  return digestOf(state)
}

test('a digest is that of OpenSSL, in whatever pieces the bytes come', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), async (pieces) => {
      t.is(await digestInPieces(pieces), expected(Buffer.concat(pieces)))
    }),
    { numRuns: 300 },
  )
})

test('pieces larger than what is hashed at a time', async (t) => {
  const large = Buffer.from(Uint8Array.from({ length: 3 * 256 * 1024 + 17 }, (_, at) => (at * 31) % 251))
  t.is(await digestInPieces([large, large]), expected(Buffer.concat([large, large])))
})
