import test from 'ava'
import { createRedactor, redactDocument } from '../../../src/cli/support-bundle/redactor.ts'

const secret = 'pä$$ "w/rd" & %41+x=y'
const redact = createRedactor([
  { value: secret, label: 'DB_PASS' },
  { value: 'tiny', label: 'TINY' },
  { value: 'ab', label: 'NEVER' },
  { value: Buffer.alloc(32, 5).toString('base64'), label: 'KEY' },
])

const around = (text: string) => Buffer.from(text).toString('base64')

/** Every way to write the secret down. */
const written: Readonly<Record<string, string>> = {
  plain: secret,
  JSON: JSON.stringify({ note: secret }),
  'JSON in JSON': JSON.stringify({ note: JSON.stringify({ note: secret }) }),
  'JSON with escaped slashes': JSON.stringify(secret).replaceAll('/', String.raw`\/`),
  'JSON in ASCII': JSON.stringify(secret).replaceAll('ä', String.raw`\u00e4`),
  'a URL': `https://x/?q=${encodeURIComponent(secret)}&z=1`,
  'a form': new URLSearchParams({ q: secret }).toString(),
  'a URL in a URL': encodeURIComponent(`https://x/?q=${encodeURIComponent(secret)}`),
  'every byte in percent': [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  base64: around(secret),
  'base64 after one byte': around(`u${secret}`),
  'base64 after two bytes': around(`u:${secret}`),
  'base64 in the middle': around(`{"password":"${secret}"}`),
  base64url: Buffer.from(`user:${secret}??>`).toString('base64url'),
  'base64 in a URL': encodeURIComponent(around(`user:${secret}`)),
  hex: Buffer.from(secret).toString('hex'),
  'hex in capitals': Buffer.from(secret).toString('hex').toUpperCase(),
  HTML: secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
}

for (const [name, text] of Object.entries(written))
  test(`a known secret is found: ${name}`, (t) => {
    const { text: clean, byValue } = redact(`before ${text} after`)
    t.is(byValue, 1, clean)
    t.regex(clean, /^before .*\[secret DB_PASS\].* after$/)
    for (const part of ['pä$$', 'w/rd', 'cMOk', '70c3a4', '%C3', '%c3']) t.false(clean.includes(part), clean)
  })

test('a key that is given in base64 is found as its bytes', (t) => {
  t.is(redact(`key ${'05'.repeat(32)}`).text, 'key [secret KEY]')
  t.is(redact(`key ${Buffer.alloc(32, 5).toString('base64url')} x`).text, 'key [secret KEY] x')
})

test('a short secret counts as a word only, and one of two letters not at all', (t) => {
  t.is(redact('tiny, "tiny" and tinymce, destiny; ab').text, '[secret TINY], "[secret TINY]" and tinymce, destiny; ab')
})

const patterns: readonly (readonly [string, string])[] = [
  ['password=hunter2 x', 'password=[secret] x'],
  ['DB_PASS: hunter2', 'DB_PASS: [secret]'],
  ['PGPASSWORD=hunter2 psql', 'PGPASSWORD=[secret] psql'],
  ['{"password":"correct horse \\" battery","a":1}', '{"password":"[secret]","a":1}'],
  [String.raw`{"body":"{\"client_secret\":\"two words\",\"a\":1}"}`, String.raw`{"body":"{\"client_secret\":\"[secret]\",\"a\":1}"}`],
  ["api_key: 'two words' # x", "api_key: '[secret]' # x"],
  ['postgres://me:p@ss/w@rd@db:5432/x', 'postgres://[secret]@db:5432/x'],
  ['Authorization: Digest username=x, response=y', 'Authorization: [secret]'],
  ['cookie: a=1; b=2', 'cookie: [secret]'],
  ['{"max_tokens":5,"key_id":"k1","is_secret":true}', '{"max_tokens":5,"key_id":"k1","is_secret":true}'],
  [`ALTER ROLE x PASSWORD 'two words' VALID`, `ALTER ROLE x PASSWORD '[secret]' VALID`],
  [`auth ${Buffer.from('user:gh-0123456789abcdef').toString('base64')} x`, 'auth [secret] x'],
  [`raw ${Buffer.from('{"password":"hunter2"}').toString('hex')}`, 'raw [secret]'],
  [
    'sha256 7d793037a0760186574b0282f2f435e7 and YWJjZGVmZ2hpamtsbW5vcHFyc3R1',
    'sha256 7d793037a0760186574b0282f2f435e7 and YWJjZGVmZ2hpamtsbW5vcHFyc3R1',
  ],
  ['GET https://host:8080/a?b=c 200', 'GET https://host:8080/a?b=c 200'],
]
for (const [text, expected] of patterns) test(`what looks like a secret: ${text}`, (t) => t.is(redact(text).text, expected))

test('a document stays one, and fields that sound secret are masked whole', (t) => {
  const document = { keys: 3, api_key: 'x y', list: [`a ${secret}`], nested: { token: 'DB_PASS is [secret]', count: 2, empty: null } }
  const { document: clean, byValue, byPattern, text } = redactDocument(document, redact)
  t.deepEqual(clean, { keys: 3, api_key: '[secret]', list: ['a [secret DB_PASS]'], nested: { token: '[secret]', count: 2, empty: null } })
  t.deepEqual([byValue, byPattern], [1, 2])
  t.deepEqual(JSON.parse(text), clean)
})

test('a long text takes time in proportion, whatever it is made of', (t) => {
  for (const piece of ['a', 'password=', 'http://x:', '"', 'tin', '\\', 'sk-', ': ', 'eyJaaaaaaaa.']) {
    const startedAt = performance.now()
    redact(piece.repeat(Math.ceil(300_000 / piece.length)))
    t.true(performance.now() - startedAt < 3000, piece)
  }
})
