import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { authorize } from '../../../../src/gateway/credentials/authorize.ts'
import { ApiError } from '../../../../src/lib/errors.ts'
import { testSigning } from '../../../support/gateway.ts'
import { answered, fakeEgress, ok, record } from './fake-egress.ts'

/** Workload identity federation at Google, whose addresses are fixed: its token services are played. */
const now = Date.UTC(2026, 0, 1)
const later = new Date(now + 3_600_000).toISOString()
const audience = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q'

let folder: string
test.before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-google-'))
  await writeFile(path.join(folder, 'token'), 'token.of.the.pod\n')
})
test.after.always(() => rm(folder, { recursive: true, force: true }))

type Texts = Readonly<Record<string, string>>

const google = (answerOfSource: unknown = { id_token: 'token.of.a.url' }) =>
  fakeEgress(({ url }) => {
    if (url === 'https://sts.googleapis.com/v1/token') return ok({ access_token: 'federated', expires_in: 3600 })
    if (url.includes(':generateAccessToken')) return ok({ accessToken: 'impersonated', expireTime: later })
    return answerOfSource === null ? answered(500, 'canary') : ok(answerOfSource)
  })

async function ask(env: Texts, fields: Texts = {}, egress = google()) {
  const request = {
    auth: { kind: 'google' as const },
    credential: { key: null, fields: { vertex_auth_type: 'workload', ...fields } },
    method: 'POST',
    url: { origin: 'https://europe-west4-aiplatform.googleapis.com', path: '/v1/x' },
    headers: [],
    body: null,
  }
  const { headers } = await authorize(request, { egress, now: () => now, workload: testSigning(env).workload, storedBy: 'an-organisation' })
  const exchanged = egress.asked.find(({ url }) => url === 'https://sts.googleapis.com/v1/token')
  return { authorization: record(headers)['authorization'], form: new URLSearchParams(exchanged?.body), asked: egress.asked }
}

const account = 'models@project.iam.gserviceaccount.com'

test('the token in a file is exchanged for that of a service account', async (t) => {
  const env = { GCP_WIF_AUDIENCE: audience, GCP_WIF_SERVICE_ACCOUNT_EMAIL: account, GCP_WIF_TOKEN_FILE: path.join(folder, 'token') }
  const { authorization, form, asked } = await ask(env)
  t.is(authorization, 'Bearer impersonated')
  t.is(form.get('subject_token'), 'token.of.the.pod')
  t.is(form.get('subject_token_type'), 'urn:ietf:params:oauth:token-type:jwt')
  t.is(form.get('audience'), audience)
  t.true(asked.some(({ url }) => url.includes(encodeURIComponent(account))))
})

for (const [title, answer] of [
  ['text', 'token.of.a.url'],
  ['JSON', { id_token: 'token.of.a.url' }],
  ['JSON of OAuth', { access_token: 'token.of.a.url' }],
] as const)
  test(`the token of an address is exchanged: ${title}`, async (t) => {
    const { authorization, form } = await ask(
      { GCP_WIF_AUDIENCE: audience, GCP_WIF_TOKEN_URL: 'https://issuer.example.com/t' },
      {},
      google(answer),
    )
    t.is(authorization, 'Bearer federated')
    t.is(form.get('subject_token'), 'token.of.a.url')
  })

test('the identity at AWS is proved by a signed request; an audience of the integration counts before that of the settings', async (t) => {
  const env = {
    GCP_WIF_AUDIENCE: '//iam.googleapis.com/other',
    AWS_ACCESS_KEY_ID: 'AKIDPOD',
    AWS_SECRET_ACCESS_KEY: 's',
    AWS_REGION: 'eu-west-1',
  }
  const { form } = await ask(env, { vertex_wif_audience: audience })
  t.is(form.get('audience'), audience)
  const subject = decodeURIComponent(form.get('subject_token') ?? '')
  t.true(subject.includes('Credential=AKIDPOD/20260101/eu-west-1/sts/'))
  t.true(subject.includes(audience))
})

for (const [title, env, fields, code] of [
  ['a token file that is not there', { GCP_WIF_AUDIENCE: audience, GCP_WIF_TOKEN_FILE: '/nowhere' }, {}, 'credential_failed'],
  [
    'an address that gives nothing',
    { GCP_WIF_AUDIENCE: audience, GCP_WIF_TOKEN_URL: 'https://issuer.example.com/t' },
    {},
    'credential_failed',
  ],
  ['an audience that is not Google’s', {}, { vertex_wif_audience: 'https://evil.example.com' }, 'invalid_request'],
] as const)
  test(`fails: ${title}`, async (t) => {
    const error = await t.throwsAsync(async () => ask(env, fields, google(null)), { instanceOf: ApiError })
    t.is(error?.code, code)
    t.notRegex(error?.message ?? '', /canary/)
  })
