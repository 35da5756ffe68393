import { createHash, createPrivateKey, createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { authorize, type AuthRequest } from '../../../../src/gateway/credentials/authorize.ts'
import { httpSignature } from '../../../../src/gateway/credentials/http-signature.ts'
import { ApiError, type ErrorCode } from '../../../../src/lib/errors.ts'
import { noEgress, record } from './fake-egress.ts'

/** The sample key of draft-cavage-http-signatures, which Oracle's document "Request Signatures" signs its examples with. */
const sampleKey = `-----BEGIN RSA PRIVATE KEY-----
MIICXgIBAAKBgQDCFENGw33yGihy92pDjZQhl0C36rPJj+CvfSC8+q28hxA161QF
NUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6Z4UMR7EOcpfdUE9Hf3m/hs+F
UR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJwoYi+1hqp1fIekaxsyQIDAQAB
AoGBAJR8ZkCUvx5kzv+utdl7T5MnordT1TvoXXJGXK7ZZ+UuvMNUCdN2QPc4sBiA
QWvLw1cSKt5DsKZ8UETpYPy8pPYnnDEz2dDYiaew9+xEpubyeW2oH4Zx71wqBtOK
kqwrXa/pzdpiucRRjk6vE6YY7EBBs/g7uanVpGibOVAEsqH1AkEA7DkjVH28WDUg
f1nqvfn2Kj6CT7nIcE3jGJsZZ7zlZmBmHFDONMLUrXR/Zm3pR5m0tCmBqa5RK95u
412jt1dPIwJBANJT3v8pnkth48bQo/fKel6uEYyboRtA5/uHuHkZ6FQF7OUkGogc
mSJluOdc5t6hI1VsLn0QZEjQZMEOWr+wKSMCQQCC4kXJEsHAve77oP6HtG/IiEn7
kpyUXRNvFsDE0czpJJBvL/aRFUJxuRK91jhjC68sA7NsKMGg5OXb5I5Jj36xAkEA
gIT7aFOYBFwGgQAQkWNKLvySgKbAZRTeLBacpHMuQdl1DfdntvAyqpAZ0lY0RKmW
G6aFKaqQfOXKCyWoUiVknQJAXrlgySFci/2ueKlIE1QqIiLSZ8V8OlpFLRnb1pzI
7U1yQXnTAEFYM560yJlzUpOb1V4cScGd365tiSMvxLOvTA==
-----END RSA PRIVATE KEY-----`
const tenancy = 'ocid1.tenancy.oc1..aaaaaaaaba3pv6wkcr4jqae5f15p2b2m2yt2j6rx32uzr4h25vqstifsfdsq'
const user = 'ocid1.user.oc1..aaaaaaaat5nvwcna5j6aqzjcaty5eqbb6qt2jvpkanghtgdaqedqw3rynjq'
const fingerprint = '20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34'
const keyId = `${tenancy}/${user}/${fingerprint}`
const example = { host: 'iaas.us-phoenix-1.oraclecloud.com', date: 'Thu, 05 Jan 2014 21:31:40 GMT' }
const compartment = 'ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa'
const volume = 'ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q'

test("signs Oracle's published GET example", (t) => {
  const path = `/20160918/instances?availabilityDomain=Pjwf%3A%20PHX-AD-1&compartmentId=${compartment}&displayName=TeamXInstances&volumeId=${volume}`
  t.is(
    httpSignature({ ...example, method: 'GET', path, body: null }, createPrivateKey(sampleKey), keyId),
    `Signature version="1",headers="date (request-target) host",keyId="${keyId}",algorithm="rsa-sha256",` +
      'signature="GBas7grhyrhSKHP6AVIj/h5/Vp8bd/peM79H9Wv8kjoaCivujVXlpbKLjMPeDUhxkFIWtTtLBj3sUzaFj34XE6YZAHc9r2DmE4pMwOAy/kiITcZxa1oHPOeRheC0jP2dqbTll8fmTZVwKZOKHYPtrLJIJQHJjNvxFWeHQjMaR7M="',
  )
})

test("signs Oracle's published POST example", (t) => {
  const content = `{
    "compartmentId": "${compartment}",
    "instanceId": "ocid1.instance.oc1.phx.abuw4ljrlsfiqw6vzzxb43vyypt4pkodawglp3wqxjqofakrwvou52gb6s5a",
    "volumeId": "${volume}"
}`
  const sha256 = createHash('sha256').update(content).digest('base64')
  t.is(sha256, 'V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0=')
  const body = { length: content.length, type: 'application/json', sha256 }
  t.is(
    httpSignature({ ...example, method: 'POST', path: '/20160918/volumeAttachments', body }, createPrivateKey(sampleKey), keyId),
    `Signature version="1",headers="date (request-target) host content-length content-type x-content-sha256",keyId="${keyId}",algorithm="rsa-sha256",` +
      'signature="Mje8vIDPlwIHmD/cTDwRxE7HaAvBg16JnVcsuqaNRim23fFPgQfLoOOxae6WqKb1uPjYEl0qIdazWaBy/Ml8DRhqlocMwoSXv0fbukP8J5N80LCmzT/FFBvIvTB91XuXI3hYfP9Zt1l7S6ieVadHUfqBedWH0itrtPJBgKmrWso="',
  )
})

const fields = { oracle_tenancy: tenancy, oracle_user: user, oracle_fingerprint: fingerprint, oracle_private_key: sampleKey }
const now = () => Date.UTC(2026, 0, 2, 3, 4, 5)
const request = (rest: Partial<AuthRequest> = {}): AuthRequest => ({
  auth: { kind: 'oracle' },
  credential: { key: null, fields },
  method: 'POST',
  url: { origin: 'https://inference.generativeai.us-chicago-1.oci.oraclecloud.com', path: '/20231130/actions/chat' },
  headers: [],
  body: null,
  ...rest,
})

function authorizeNow(rest?: Partial<AuthRequest>): Record<string, string> {
  const result = authorize(request(rest), { egress: noEgress(), now })
  if (result instanceof Promise) throw new Error('signing needs no I/O')
  return record(result.headers)
}

/** Written from the draft alone: rebuilds the signed text from the list in the header. */
function verifies(
  sent: Record<string, string>,
  { method, path, host, length }: { method: string; path: string; host: string; length: number },
): boolean {
  const claims = new Map([...(sent['authorization'] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]))
  const values: Record<string, string | undefined> = {
    ...sent,
    '(request-target)': `${method.toLowerCase()} ${path}`,
    host,
    'content-length': String(length),
  }
  const text = (claims.get('headers') ?? '').split(' ').map((name) => `${name}: ${values[name]}`)
  return createVerify('RSA-SHA256')
    .update(text.join('\n'))
    .verify(createPublicKey(sampleKey), claims.get('signature') ?? '', 'base64')
}

test('what goes out verifies, whatever the request', (t) => {
  const host = 'inference.generativeai.us-chicago-1.oci.oraclecloud.com'
  fc.assert(
    fc.property(
      fc.constantFrom('GET', 'DELETE', 'HEAD', 'POST', 'PUT', 'PATCH'),
      fc.webPath(),
      fc.uint8Array(),
      (method, webPath, body) => {
        const path = webPath === '' ? '/' : webPath
        const sent: Record<string, string> = {
          'content-type': 'text/plain',
          ...authorizeNow({ method, url: { origin: `https://${host}`, path }, body, headers: ['Content-Type', 'text/plain'] }),
        }
        return (
          verifies(sent, { method, path, host, length: body.byteLength }) &&
          (sent['x-content-sha256'] === undefined) === ['GET', 'DELETE', 'HEAD'].includes(method)
        )
      },
    ),
    { numRuns: 60 },
  )
  t.pass()
})

test('a POST without a body signs the empty one, as JSON', (t) => {
  const sent = authorizeNow()
  t.is(sent['content-type'], 'application/json')
  t.is(sent['x-content-sha256'], '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
  t.is(sent['date'], 'Fri, 02 Jan 2026 03:04:05 GMT')
})

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pkcs8 = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const locked = rsa.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'opensesame' }).toString()

const accepts = test.macro({
  exec(t, changed: Record<string, string>, key: string | null = null) {
    const sent = authorizeNow({ credential: { key, fields: { ...fields, ...changed } } })
    t.regex(sent['authorization'] ?? '', /signature="[\w+/]{342}=="$/)
  },
  title: (name = '') => `takes a key ${name}`,
})

test('in PKCS#8', accepts, { oracle_private_key: pkcs8 })
test('that a passphrase protects', accepts, { oracle_private_key: locked, oracle_key_passphrase: 'opensesame' })
test(String.raw`in one line with \n`, accepts, { oracle_private_key: pkcs8.replaceAll('\n', String.raw`\n`) })
test('in base64', accepts, { oracle_private_key: Buffer.from(pkcs8).toString('base64') })
test('that is the credential itself', accepts, { oracle_private_key: '' }, pkcs8)

const refuses = test.macro({
  exec(t, changed: Record<string, string>, code: ErrorCode, param: string) {
    const error = t.throws(() => authorizeNow({ credential: { key: null, fields: { ...fields, ...changed } } }), { instanceOf: ApiError })
    t.is(error.code, code)
    t.is(error.param, param)
    t.notRegex(error.message, /BEGIN|opensesame/)
  },
  title: (name = '') => `refuses ${name}`,
})

const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

test('no tenancy', refuses, { oracle_tenancy: '' }, 'missing_credential', 'oracle_tenancy')
test('no key', refuses, { oracle_private_key: '' }, 'missing_credential', 'oracle_private_key')
test('a key that is none', refuses, { oracle_private_key: '-----BEGIN nonsense' }, 'invalid_request', 'oracle_private_key')
test('a key of another kind', refuses, { oracle_private_key: elliptic }, 'invalid_request', 'oracle_private_key')
test(
  'a wrong passphrase',
  refuses,
  { oracle_private_key: locked, oracle_key_passphrase: 'opensesame?' },
  'invalid_request',
  'oracle_private_key',
)
test('an id that would end its quotes', refuses, { oracle_user: 'a",x="' }, 'invalid_request', 'oracle_user')
