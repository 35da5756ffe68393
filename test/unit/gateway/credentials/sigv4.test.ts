import { createHash } from 'node:crypto'
import test from 'ava'
import { AwsV4Signer } from 'aws4fetch'
import fc from 'fast-check'
import { amzTimestamp, signV4 } from '../../../../src/gateway/credentials/sigv4.ts'

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', sessionToken: null }
const scope = { region: 'us-east-1', service: 'service', timestamp: '20150830T123600Z' }
const sha256 = (body: string): string => createHash('sha256').update(body).digest('hex')
const host = ['host', 'example.amazonaws.com'] as const
const date = ['x-amz-date', scope.timestamp] as const

interface Vector {
  method?: string
  path?: string
  headers?: readonly (readonly [string, string])[]
  body?: string
  signedHeaders?: string
  signature: string
}

/** AWS's own aws-sig-v4-test-suite. */
const vector = test.macro({
  exec(t, { method = 'GET', path = '/', headers = [], body = '', signedHeaders = 'host;x-amz-date', signature }: Vector) {
    t.is(
      signV4({ method, path, headers: [host, date, ...headers], payloadHash: sha256(body) }, keys, scope),
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signedHeaders}, Signature=${signature}`,
    )
  },
  title: (name = '') => `SigV4 test suite: ${name}`,
})

const unreserved = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('get-vanilla', vector, { signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31' })
test('get-vanilla-query-order-key-case', vector, {
  path: '/?Param2=value2&Param1=value1',
  signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
})
test('get-vanilla-query-order-key', vector, {
  path: '/?Param1=value2&Param1=Value1',
  signature: 'eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1',
})
test('get-vanilla-query-order-value', vector, {
  path: '/?Param1=value2&Param1=value1',
  signature: '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694',
})
test('get-vanilla-query-order-encoded', vector, {
  path: '/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1',
  signature: '371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac',
})
test('get-vanilla-query-unreserved', vector, {
  path: `/?${unreserved}=${unreserved}`,
  signature: '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
})
test('get-utf8', vector, { path: '/ሴ', signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85' })
test('get-space-normalized', vector, {
  path: '/example space/',
  signature: '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
})
test('get-unreserved', vector, { path: `/${unreserved}`, signature: '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f' })
test('get-relative-normalized (equals get-vanilla)', vector, {
  path: '/example/..',
  signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
})
test('get-slash-normalized (equals get-vanilla)', vector, {
  path: '//',
  signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
})
test('get-header-value-trim', vector, {
  headers: [
    ['My-Header1', ' value1'],
    ['My-Header2', ' "a   b   c"'],
  ],
  signedHeaders: 'host;my-header1;my-header2;x-amz-date',
  signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
})
test('post-vanilla', vector, { method: 'POST', signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b' })
test('post-header-key-sort', vector, {
  method: 'POST',
  headers: [['My-Header1', 'value1']],
  signedHeaders: 'host;my-header1;x-amz-date',
  signature: 'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
})
test('post-x-www-form-urlencoded', vector, {
  method: 'POST',
  headers: [['Content-Type', 'application/x-www-form-urlencoded']],
  body: 'Param1=value1',
  signedHeaders: 'content-type;host;x-amz-date',
  signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
})
test('get-vanilla-with-session-token', vector, {
  headers: [['x-amz-security-token', '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267']],
  signedHeaders: 'host;x-amz-date;x-amz-security-token',
  signature: '07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8',
})

test('a timestamp is in basic ISO 8601, to the second', (t) => {
  t.is(amzTimestamp(Date.UTC(2015, 7, 30, 12, 36, 0, 999)), '20150830T123600Z')
})

const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed()))
const plainSegment = segment.filter((text) => !/^\.{1,2}$/.test(text))
const token = fc.stringMatching(/^[A-Za-z0-9/+=]{1,40}$/)
const requests = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  segments: fc.array(
    fc.oneof(plainSegment, fc.constantFrom('anthropic.claude-v2:1', 'a(b)c', "it's", 'a*b!', 'x@y', 'arn%3Aaws%3Abedrock')),
    { maxLength: 5 },
  ),
  closed: fc.boolean(),
  query: fc.array(
    fc.tuple(fc.oneof(segment, fc.constantFrom('a', 'a-b')), fc.oneof(segment, fc.constantFrom('', 'a+b', '%7e', '%2f', 'x=y', "!'()*"))),
    { maxLength: 5 },
  ),
  body: fc.string({ unit: 'grapheme', maxLength: 60 }),
  region: fc.constantFrom('us-east-1', 'eu-central-1'),
  service: fc.constantFrom('bedrock', 'sagemaker', 'sts'),
  accessKeyId: fc.stringMatching(/^[A-Z0-9]{16,20}$/),
  secretAccessKey: token,
  sessionToken: fc.option(token),
  at: fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
})

test('agrees with an independent signer on random requests', async (t) => {
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, segments, closed, query, body, ...rest }) => {
      const { accessKeyId, secretAccessKey, sessionToken, region, service } = rest
      const timestamp = amzTimestamp(rest.at.getTime())
      const path = `/${segments.join('/')}${closed && segments.length > 0 ? '/' : ''}`
      const search = query.length === 0 ? '' : `?${query.map(([name, value]) => `${name}=${value}`).join('&')}`
      const sent = method === 'GET' ? undefined : body
      const other = new AwsV4Signer({
        method,
        url: `https://host.example.com${path}${search}`,
        headers: { 'content-type': 'application/json', 'x-amzn-sagemaker-target-model': 'a  b' },
        ...(sent !== undefined && { body: sent }),
        accessKeyId,
        secretAccessKey,
        ...(sessionToken !== null && { sessionToken }),
        service,
        region,
        datetime: timestamp,
        allHeaders: true,
      })
      const theirs = await other.sign()
      // The URL parser may encode more than was written; the sent form must be signed.
      const wire = other.url.pathname + other.url.search
      const ours = signV4(
        {
          method,
          path: wire,
          headers: [
            ['host', 'host.example.com'],
            ['x-amz-date', timestamp],
            ['content-type', 'application/json'],
            ['x-amzn-sagemaker-target-model', 'a  b'],
            ...(sessionToken === null ? [] : [['x-amz-security-token', sessionToken] as const]),
          ],
          payloadHash: sha256(sent ?? ''),
        },
        { accessKeyId, secretAccessKey, sessionToken },
        { region, service, timestamp },
      )
      if (theirs.headers.get('authorization') !== ours)
        throw new Error(`${method} ${wire}\n${theirs.headers.get('authorization')}\n${ours}`)
    }),
    { numRuns: 1000 },
  )
  t.pass()
})
