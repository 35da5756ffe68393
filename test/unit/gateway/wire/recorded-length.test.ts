// Recordings of a tone of 1.25 s, one for each container, in forms as clients send them.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { type HeldUpload, recordedMs } from '../../../../src/gateway/wire/recorded-length.ts'

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
const held = (form: Buffer, most = form.length): HeldUpload => ({
  head: form.subarray(0, most),
  tail: form.subarray(-most),
  size: form.length,
})

test('there is a recording of each container', (t) => {
  t.deepEqual([...new Set(names.map((name) => path.extname(name)))].toSorted(), ['.flac', '.m4a', '.mp3', '.ogg', '.opus', '.wav', '.webm'])
})

for (const name of names) {
  const form = formOf(readFileSync(path.join(folder, name)))

  test(`the length of ${name} is told by its container, whole or by its ends`, (t) => {
    for (const upload of [held(form), held(form, 4096)]) {
      const ms = recordedMs(upload) ?? 0
      t.true(ms >= 1250 && ms <= 1250 + slackMs, String(ms))
    }
  })

  test(`${name} that was cut or changed anywhere throws nothing`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(fc.nat(form.length), fc.nat(form.length - 1), fc.nat(255), (end, at, byte) => {
          const changed = Buffer.from(form)
          changed[at] = byte
          const ms = recordedMs(held(changed.subarray(0, end)))
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
