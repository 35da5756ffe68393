// Recordings of a tone of 1.25 s, one for each container, in forms as clients send them.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { ApiError } from '../../../../src/lib/errors.ts'
import { FormWatch, type WatchedForm } from '../../../../src/gateway/wire/form-watch.ts'
import { mostRecordedMs, recordedMs } from '../../../../src/gateway/wire/recorded-length.ts'

const folder = path.resolve(import.meta.dirname, '../../../corpus/recordings')
const names = readdirSync(folder)
/** The frames that encoders put before and after the sound last some hundredths of a second. */
const slackMs = 200

const formOf = (file: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from('--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n'),
    Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: audio/x\r\n\r\n'),
    file,
    Buffer.from('\r\n--x--\r\n'),
  ])
/** A form whose model was changed so that readers understand it differently is refused. */
function lengthOf(form: Buffer): number | null {
  try {
    return recordedMs(held(form))
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** Watches a form that comes in pieces of so many bytes. */
function held(form: Buffer, piece = form.length): WatchedForm {
  const watch = new FormWatch('--x')
  for (let at = 0; at < form.length; at += piece) watch.add(form.subarray(at, at + piece))
  return watch.told()
}

test('there is a recording of each container', (t) => {
  t.deepEqual([...new Set(names.map((name) => path.extname(name)))].toSorted(), ['.flac', '.m4a', '.mp3', '.ogg', '.opus', '.wav', '.webm'])
})

for (const name of names) {
  const form = formOf(readFileSync(path.join(folder, name)))

  test(`the length of ${name} is told by its container, whole or in pieces`, (t) => {
    for (const upload of [held(form), held(form, 997)]) {
      const ms = recordedMs(upload) ?? 0
      t.true(ms >= 1250 && ms <= 1250 + slackMs, String(ms))
    }
  })

  test(`${name} that was cut or changed anywhere throws nothing`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(fc.nat(form.length), fc.nat(form.length - 1), fc.nat(255), (end, at, byte) => {
          const other = Buffer.from(form)
          other[at] = byte
          const ms = lengthOf(other.subarray(0, end))
          return ms === null || (Number.isSafeInteger(ms) && ms > 0)
        }),
      ),
    )
  })
}

test('what is no recording has no length', (t) => {
  for (const file of ['', 'just words', 'RIFF', '\u00ff\u00fb\u0000'.padEnd(400, 'x')])
    t.is(recordedMs(held(formOf(Buffer.from(file, 'latin1')))), null)
  t.is(recordedMs(held(Buffer.from('no form'))), null)
})

const tone = (name: string): Buffer => readFileSync(path.join(folder, name))
const recording = (extension: string): Buffer => tone(names.find((name) => name.endsWith(extension)) ?? '')
function changed(file: Buffer, at: number, write: (bytes: Buffer, place: number) => void): Buffer {
  const copy = Buffer.from(file)
  if (at >= 0) write(copy, at)
  return copy
}

function box(type: string, body: Uint8Array | string): Buffer {
  const contents = Buffer.from(body)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(contents.length + 8)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, contents])
}

/** Recordings of 1.25 s whose heads say that they are shorter; the least that their bytes can hold. */
const lies: Readonly<Record<string, readonly [file: Buffer, leastMs: number]>> = {
  'a WAV file with a false rate in bytes': [changed(recording('.wav'), 28, (bytes, at) => bytes.writeUInt32LE(0xffffffff, at)), 1250],
  'a WAV file that tells fewer samples': [
    changed(recording('.wav'), recording('.wav').indexOf('data') + 4, (bytes, at) => bytes.writeUInt32LE(100, at)),
    1250,
  ],
  'a FLAC file that tells fewer samples': [changed(recording('.flac'), 22, (bytes, at) => bytes.writeUInt32BE(100, at)), 100],
  'an Opus file whose last page tells fewer samples': [
    changed(recording('.opus'), recording('.opus').lastIndexOf('OggS') + 6, (bytes, at) => bytes.writeBigInt64LE(960n, at)),
    20,
  ],
  'an MP4 file that tells less': [
    changed(recording('.m4a'), recording('.m4a').indexOf('mvhd') + 20, (bytes, at) => bytes.writeUInt32BE(1, at)),
    1250,
  ],
  'an MP4 file whose track tells less': [
    changed(recording('.m4a'), recording('.m4a').indexOf('mdhd') + 20, (bytes, at) => bytes.writeUInt32BE(1, at)),
    1250,
  ],
  'an MP3 file that tells one frame': [
    changed(
      recording('tone.mp3'),
      recording('tone.mp3').indexOf(/Xing|Info/.exec(recording('tone.mp3').toString('latin1'))?.[0] ?? '') + 8,
      (bytes, at) => bytes.writeUInt32BE(1, at),
    ),
    625,
  ],
  'a WebM file that tells less than its last cluster': [
    changed(recording('.webm'), recording('.webm').indexOf(Buffer.from([0x44, 0x89])) + 3, (bytes, at) => bytes.writeDoubleBE(1, at)),
    10,
  ],
}
/** Files of which nobody knows the length: their heads are false. */
const falsified = {
  'marks of an index that is none': Buffer.concat([
    box('ftyp', 'M4A '),
    box('free', `vide${'mvhd'.padEnd(24, '\u0001')}`),
    box('mdat', 'x'.repeat(9000)),
  ]),
  'an index without a length': Buffer.concat([box('ftyp', 'M4A '), box('moov', box('mvex', '')), box('mdat', 'x'.repeat(9000))]),
  'a short Ogg page before many bytes': Buffer.concat([recording('.opus'), Buffer.alloc(500_000)]),
  'a short WebM duration before many bytes': Buffer.concat([recording('.webm'), Buffer.from('V_'.repeat(250_000))]),
}
for (const [name, file] of Object.entries(falsified))
  test(`a false head gives no length, and a strict limit expects as many bytes as speech has at least: ${name}`, (t) => {
    t.is(recordedMs(held(formOf(file))), null)
    t.is(mostRecordedMs(held(formOf(file))), Math.ceil(file.length / 0.75))
  })

test('a strict limit trusts no head but that of a WAV file', (t) => {
  for (const name of names) {
    const file = tone(name)
    t.is(
      mostRecordedMs(held(formOf(file))),
      name.endsWith('.wav') ? 1250 : Math.max(recordedMs(held(formOf(file))) ?? 0, Math.ceil(file.length / 0.75)),
    )
  }
})

for (const [name, [file, least]] of Object.entries(lies))
  test(`${name} is no shorter than its bytes can be`, (t) => {
    const ms = recordedMs(held(formOf(file))) ?? Infinity
    t.true(ms >= least, String(ms))
  })

const part = (head: string, body: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.from(`--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')])
const formWith = (...parts: readonly Buffer[]): Buffer => Buffer.concat([...parts, Buffer.from('--x--\r\n')])
const short = (): Buffer => {
  const file = recording('.wav')
  return file.subarray(0, file.indexOf('data') + 8 + 3200)
}

test('the recording is that of the field that providers read, and of several the longest', (t) => {
  const sound = part('name="file"; filename="a.wav"', recording('.wav'))
  const decoy = part('name="decoy"; filename="a.wav"', short())
  for (const form of [
    formWith(decoy, sound),
    formWith(sound, decoy),
    formWith(part('name="file"; filename="b.wav"', short()), sound),
    formWith(part('name="prompt"', 'filename="x"\r\n\r\nRIFF'), sound),
  ])
    t.is(recordedMs(held(form)), 1250)
  t.is(recordedMs(held(formWith(part('name="file"; filename="c.wav"', 'RIFF'), sound))), null, 'nobody knows how long one of them is')
})

test('the model is that of the field, whatever a text or a file holds', (t) => {
  const said = 'x\r\nname="model"\r\n\r\ncheap\r\nContent-Disposition: form-data; name="model"\r\n\r\ncheap\r\n'
  const model = part('name="model"', 'dear')
  for (const decoy of [part('name="prompt"', said), part('name="note"; filename="a"', said), part('name="model"; filename="a"', 'cheap')])
    for (const form of [formWith(decoy, model), formWith(model, decoy)]) t.is(held(form).model, 'dear')
})

test('a form that names two models, or one that readers understand differently, is refused', (t) => {
  for (const second of [part('name="model"', 'cheap'), part('name="x"; name="model"', 'cheap'), part('name="model"', 'c'.repeat(2000))])
    t.throws(() => held(formWith(part('name="model"', 'dear'), second)), { instanceOf: ApiError, message: /names its model twice/ })
  t.notThrows(() => held(formWith(part('name="model"', 'dear'), part('name="model"', 'dear'))))
})
