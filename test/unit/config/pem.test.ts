import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { loadConfig } from '../../../src/config/index.ts'

// Made for this test alone: a self-signed certificate, its key, and an unrelated key.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBiTCCAS+gAwIBAgIUJ8y767m0hFEdN2KLYyUdtpn/yTQwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOZ2F0ZWhvdXNlLXRlc3QwIBcNMjYxMTIxMDc1MTIwWhgPMjEy
NjEwMjgwNzUxMjBaMBkxFzAVBgNVBAMMDmdhdGVob3VzZS10ZXN0MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEnQNjaD24/DjzYoIMsxWL564xYLYS1GdNBRgVSSAt
7UCyV8H/w2AvwQtxmgVLYACpYwZypR1MGf7GVWMU3VcI+6NTMFEwHQYDVR0OBBYE
FLPOXIG/9KRQUM9n3ltECYJSsoKwMB8GA1UdIwQYMBaAFLPOXIG/9KRQUM9n3ltE
CYJSsoKwMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgcC+UZX+5
EHcUjC0W+ZT8T1F7WC9+sSb77cHT5JMduQkCIQDxggvL5rHQZLscq4UegY55RQRz
AgrDMMs/d9eq2NkEBg==
-----END CERTIFICATE-----`
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgStQFCZTTBnUjmQHe
2aHJBzPpySsg+ApD0nlNkvxxPG+hRANCAASdA2NoPbj8OPNiggyzFYvnrjFgthLU
Z00FGBVJIC3tQLJXwf/DYC/BC3GaBUtgAKljBnKlHUwZ/sZVYxTdVwj7
-----END PRIVATE KEY-----`
const otherKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgc/V2Ta2u8YQZcqt4
bQFs0gWzCrgz2h7/YQoehZIjApehRANCAARpmzNETaTFdITAzk2oCzArXaxzNKZn
kUYxYzZTfbsuNGgnLNoJnWae0389BOFsY/aif0yKNBM6U9StX0pfYI9Q
-----END PRIVATE KEY-----`

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-pem-'))
test.after.always(() => rmSync(folder, { recursive: true }))

const ssl = (env: Record<string, string>) => loadConfig({ DB_HOST: 'db', ...env }).database.ssl

test('PEM text is taken as it is', (t) => {
  const read = ssl({ DB_SSL_CA: certificate, DB_SSL_CERT: certificate, DB_SSL_KEY: key })
  t.deepEqual([read.ca, read.cert, read.key?.reveal()], [certificate, certificate, key])
})

test('a path gives the content of the file', (t) => {
  const at = path.join(folder, 'ca.pem')
  writeFileSync(at, certificate)
  t.is(ssl({ DB_SSL_CA: at }).ca, certificate)
})

test('line ends written as \\n are read as line ends', (t) => {
  t.is(ssl({ DB_SSL_CA: certificate.replaceAll('\n', '\\n') }).ca, certificate)
})

test('remarks before the first certificate go', (t) => {
  t.is(ssl({ DB_SSL_CA: `# a bundle\n${certificate}` }).ca, certificate)
})

test('a key file is named by DB_SSL_KEY_FILE too', (t) => {
  const at = path.join(folder, 'key.pem')
  writeFileSync(at, `${key}\n`)
  t.is(ssl({ DB_SSL_CERT: certificate, DB_SSL_KEY_FILE: at }).key?.reveal(), key)
})

const refuses = test.macro((t, env: Record<string, string>, problem: { name: string; fault: RegExp }) => {
  const error = t.throws(() => ssl(env))
  t.regex(error?.message ?? '', new RegExp(`^1 setting cannot be used:\\n {2}${problem.name} ${problem.fault.source}`))
})

test('a certificate without key', refuses, { DB_SSL_CERT: certificate }, { name: 'DB_SSL_KEY', fault: /is missing although DB_SSL_CERT/ })
test('a key without certificate', refuses, { DB_SSL_KEY: key }, { name: 'DB_SSL_CERT', fault: /is missing although DB_SSL_KEY/ })
test(
  'a key of another certificate',
  refuses,
  { DB_SSL_CERT: certificate, DB_SSL_KEY: otherKey },
  { name: 'DB_SSL_KEY', fault: /is not the key/ },
)
test('a key where a certificate belongs', refuses, { DB_SSL_CA: key }, { name: 'DB_SSL_CA', fault: /holds no certificate/ })
