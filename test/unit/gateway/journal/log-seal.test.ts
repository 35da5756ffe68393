import test from 'ava'
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { decodeConfidential, encodeConfidential, withoutConfidential } from '../../../../src/gateway/journal/confidential.ts'
import { encodeFrame, parseFrame, type Frame } from '../../../../src/gateway/journal/frame.ts'
import { createLogSeal, SealError, type LogPlace } from '../../../../src/gateway/journal/log-seal.ts'
import { decodeRecord } from '../../../../src/gateway/journal/record.ts'
import { exchangeBodies, exchangeRecord, writtenRecord } from '../../../support/journal.ts'

const logKey = randomBytes(32)
const seal = createLogSeal(logKey)
const place: LogPlace = {
  id: '01980000-0000-7000-8000-00000000000a',
  organisationId: '01980000-0000-7000-8000-000000000001',
  createdAt: 1_790_000_000_000,
}
const sealed = (...parts: string[]) =>
  Buffer.concat(
    seal.seal(
      place,
      parts.map((part) => Buffer.from(part)),
    ),
  )
const refused = (value: Uint8Array, at: Partial<LogPlace> = {}, by = seal) => ({
  instanceOf: SealError,
  run: () => by.open({ ...place, ...at }, value),
})

for (const [name, parts] of Object.entries({
  nothing: [],
  'one part': ['text'],
  'several parts': ['a', '', 'bc'],
  'more than is copied together': ['x'.repeat(40_000), 'y'.repeat(40_000)],
})) {
  test(`what is sealed opens: ${name}`, (t) => {
    const value = sealed(...parts)
    t.is(seal.open(place, value).toString(), parts.join(''))
    t.is(createLogSeal(logKey).open(place, value).toString(), parts.join(''), 'another process opens it too')
  })
}

test('of a changed value not one byte opens', (t) => {
  const value = sealed('prompt', 'answer')
  for (let at = 0; at < value.length; at += 1) {
    const changed = Buffer.from(value)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.throws(() => seal.open(place, changed), { instanceOf: SealError }, `byte ${at}`)
  }
  for (let length = 0; length < value.length; length += 1)
    t.throws(() => seal.open(place, value.subarray(0, length)), { instanceOf: SealError })
  t.throws(() => seal.open(place, Buffer.concat([value, Buffer.alloc(1)])), { instanceOf: SealError })
})

for (const [name, at] of Object.entries({
  'another row': { id: '01980000-0000-7000-8000-00000000000b' },
  'another organisation': { organisationId: '01980000-0000-7000-8000-000000000002' },
  'another time': { createdAt: place.createdAt + 1 },
})) {
  test(`it opens for no other place: ${name}`, (t) => {
    t.throws(refused(sealed('prompt'), at).run, { instanceOf: SealError, message: /changed, or belongs to another log/ })
  })
}

test('another log key is named as the reason', (t) => {
  t.throws(refused(sealed('prompt'), {}, createLogSeal(randomBytes(32))).run, { instanceOf: SealError, message: /another log key/ })
})

test('no pair of salt and count comes twice, in one process or in several', (t) => {
  const places = [place, { ...place, organisationId: '01980000-0000-7000-8000-000000000002' }]
  const seals = [seal, createLogSeal(logKey), createLogSeal(logKey)]
  const pairs = seals.flatMap((one) =>
    Array.from({ length: 2000 }, (_, index) => Buffer.concat(one.seal(places[index % 2] ?? place, [])).toString('hex', 9, 33)),
  )
  t.is(new Set(pairs).size, pairs.length)
})

test('what is confidential of an exchange comes back as it was', (t) => {
  const hooks = { before_request_hooks: [], after_request_hooks: [] }
  const attempts = [
    {
      option: 'config.targets[0]',
      provider: 'openai',
      providerSlug: 'a',
      model: 'm',
      status: 429,
      failure: 'rate_limit',
      error: 'slow',
      startMs: 1,
      durationMs: 2.5,
      responseBytes: 9,
    },
  ] as const
  const translation = { dropped: ['seed'], providerError: 'busy' }
  const record = exchangeRecord({ path: '/x?q=ä', requestHeaders: { b: '2', a: '1' }, hooks, attempts, translation })
  for (const bodies of [exchangeBodies('{"q":1}', ''), exchangeBodies(null, 'answer'), exchangeBodies(null, null)]) {
    const { path, upstreamUrl, requestHeaders, responseHeaders } = record
    t.deepEqual(decodeConfidential(Buffer.concat(encodeConfidential(record, bodies))), {
      path,
      upstreamUrl,
      requestHeaders,
      responseHeaders,
      hooks,
      attempts,
      translation,
      request: bodies.request,
      response: bodies.response,
    })
  }
})

test('verdicts and attempts stay in the clear, without what was looked at and said', (t) => {
  const hook = {
    verdict: false,
    id: 'a',
    name: 'a guardrail',
    transformed: false,
    checks: [
      {
        verdict: false,
        id: 'default.contains',
        data: { text: 'a prompt' },
        execution_time: 1,
        transformed: false,
        created_at: '2026-01-01T00:00:00.000Z',
        log: null,
        fail_on_error: false,
      },
    ],
    feedback: { value: -1, weight: 1, metadata: { words: 'a prompt' } },
    execution_time: 1,
    async: false,
    type: 'guardrail',
    created_at: '2026-01-01T00:00:00.000Z',
    deny: true,
  } as const
  const attempt = {
    option: 'config.targets[0]',
    provider: 'openai',
    providerSlug: 'a',
    model: 'm',
    status: 429,
    failure: 'rate_limit',
    error: 'a prompt is too long',
    startMs: 1,
    durationMs: 2.5,
    responseBytes: 9,
  } as const
  const record = exchangeRecord({ hooks: { before_request_hooks: [hook], after_request_hooks: [hook] }, attempts: [attempt, attempt] })
  const clear = withoutConfidential(record)
  t.notRegex(JSON.stringify(clear), /a prompt/)
  t.is(clear.attempts?.length, 2)
  t.deepEqual(
    clear.hooks?.after_request_hooks.map(({ verdict, deny }) => [verdict, deny]),
    [[false, true]],
  )
})

test('what was sealed once opens for good', (t) => {
  const value = 'ARbjvLQG4SY7qkI1ZyKP04pI7j3lcMqyNgAAAAAAAAABc/Va+VwALqogq2Juf6zwgV982+fJoOQ0'
  t.is(createLogSeal(Buffer.alloc(32, 7)).open(place, Buffer.from(value, 'base64')).toString(), 'a prompt')
})

test('a frame that was changed on disk, its checksum too, is read as a frame, and what is sealed in it does not open', (t) => {
  const mark = randomBytes(8)
  const record = exchangeRecord({ organisationId: place.organisationId, id: place.id, createdAt: place.createdAt })
  const frame = (fields: Partial<Frame>) =>
    Buffer.concat(
      encodeFrame(mark, {
        record: writtenRecord(withoutConfidential(record)),
        request: null,
        response: null,
        requestTruncated: false,
        responseTruncated: false,
        sealed: seal.seal(place, encodeConfidential(record, exchangeBodies('prompt', 'answer'))),
        ...fields,
      }).buffers,
    )
  const read = (bytes: Buffer) => {
    const parsed = parseFrame(bytes, 0, mark)
    if (parsed.kind !== 'frame') throw new Error(parsed.kind)
    const { id, organisationId, createdAt } = decodeRecord(parsed.frame.record.toString())
    return seal.open({ id, organisationId, createdAt }, parsed.frame.sealed ?? Buffer.alloc(0))
  }
  t.is(decodeConfidential(read(frame({}))).request?.toString(), 'prompt')

  const ofAnother = { ...record, organisationId: '01980000-0000-7000-8000-000000000002' }
  t.throws(() => read(frame({ record: writtenRecord(withoutConfidential(ofAnother)) })), { instanceOf: SealError })
  const changed = frame({})
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
  t.throws(() => read(changed), { message: 'none' })
  changed.writeUInt32LE(crc32(changed.subarray(12)), 8)
  t.throws(() => read(changed), { instanceOf: SealError })
  const shownAsClear = frame({})
  shownAsClear.writeUInt32LE(0, 28)
  shownAsClear.writeUInt32LE(crc32(shownAsClear.subarray(12)), 8)
  const parsed = parseFrame(shownAsClear, 0, mark)
  t.false(parsed.kind === 'frame' && Buffer.from(parsed.frame.request ?? []).includes('prompt'), 'without its flag it is bytes and no text')
})
