import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { movedClock } from '../../support/moved-clock.ts'
import { type FakeVault, startFakeVault } from '../../support/secret-managers.ts'
import { type Answer, type Control, startControl, type Tenant } from './setup.ts'

/** Secrets of a manager, from the API through the gateway to the provider. */
let control: Control
let acme: Tenant
let emulator: Emulator
let vault: FakeVault

type Fields = Readonly<Record<string, unknown>>

test.before(async () => {
  ;[emulator, vault] = await Promise.all([startEmulator(), startFakeVault()])
  control = await startControl(
    { clock },
    { SECRET_CACHE_TTL: '1s', SECRET_MAX_STALE: '2s', SECRET_MANAGER_TIMEOUT: '400ms', CLOUD_IDENTITY_ORGANISATIONS: 'all' },
  )
  acme = await control.createTenant('acme')
})
test.after.always(async () => {
  await control?.close()
  await Promise.all([emulator?.stop(), vault?.stop()])
})
test.beforeEach(() => {
  vault.mood = 'well'
  vault.setNamespace(null)
})

const call = (method: string, path: string, body?: unknown, key = acme.adminKey) => control.call(key, method, path, body)
const tokenAuth = () => ({ vault_auth_type: 'token', vault_addr: vault.url, vault_token: vault.rootToken })
const reference = (more: Fields = {}) => ({
  name: 'OpenAI key',
  manager_type: 'hashicorp_vault',
  auth_config: tokenAuth(),
  secret_path: 'secret/openai',
  ...more,
})

/** The answer of a call that has to succeed; its id and slug are texts. */
async function made(answer: Promise<Answer>): Promise<Fields & { readonly id: string; readonly slug: string }> {
  const { status, body, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
  return { ...body, id: String(body['id']), slug: String(body['slug']) }
}

const { clock, later, inTime } = movedClock()

let count = 0
/** A secret in the vault, its reference, and an integration with a provider that uses it. */
async function used(options: { fields?: Fields; reference?: Fields; mapping?: Fields; integration?: Fields } = {}) {
  count += 1
  const slug = `used-${count}`
  vault.put(`secret/${slug}`, options.fields ?? { api_key: `sk-${slug}-first` })
  const { id } = await made(call('POST', '/secret-references', reference({ slug, secret_path: `secret/${slug}`, ...options.reference })))
  const mapped = [{ target_field: 'key', secret_reference_id: slug, ...options.mapping }]
  await made(
    call('POST', '/integrations', {
      name: slug,
      slug,
      ai_provider_id: 'openai',
      configurations: { custom_host: emulator.url },
      secret_mappings: mapped,
      ...options.integration,
    }),
  )
  return { id, slug }
}

const chat = (slug: string, key = acme.workspaceKey) =>
  fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': key, 'x-service-provider': `@${slug}` },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }),
  })

async function chatted(slug: string): Promise<{ status: number; text: string; sent: string | undefined }> {
  const answer = await chat(slug)
  const text = await answer.text()
  return { status: answer.status, text, sent: emulator.requests.at(-1)?.headers.authorization }
}

const readsOf = (slug: string) => vault.calls.filter(({ url }) => url.includes(`/${slug}`)).length

test.serial('a reference is made, listed, read, changed and deleted, and its secrets are never shown', async (t) => {
  const { id, slug, object } = await made(call('POST', '/secret-references', reference({ tags: { env: 'prod' } })))
  t.is(object, 'secret-reference')
  const read = await call('GET', `/secret-references/${id}`)
  t.like(read.body, {
    id,
    slug,
    name: 'OpenAI key',
    manager_type: 'hashicorp_vault',
    secret_path: 'secret/openai',
    secret_key: null,
    secret_version: null,
    allow_all_workspaces: true,
    allowed_workspaces: [],
    status: 'ACTIVE',
    last_fetched_at: null,
    age_seconds: null,
    last_error: null,
    used_by_count: 0,
  })
  t.deepEqual(read.body['auth_config'], { ...tokenAuth(), vault_token: '********' })
  const found = await call('GET', '/secret-references?manager_type=hashicorp_vault&search=openai&tags=env:prod')
  t.is(found.body['total'], 1)
  t.is((await call('GET', '/secret-references?manager_type=aws_sm')).body['total'], 0)
  const changed = {
    name: 'Renamed',
    auth_config: { ...tokenAuth(), vault_token: '********' },
    allowed_workspaces: ['side'],
    secret_version: '1',
  }
  t.is((await call('PUT', `/secret-references/${slug}`, changed)).status, 200)
  const after = await call('GET', `/secret-references/${id}`)
  t.like(after.body, { name: 'Renamed', allow_all_workspaces: false, secret_version: '1' })
  t.deepEqual(
    (after.body['allowed_workspaces'] as Fields[]).map((one) => one['slug']),
    ['side'],
  )
  t.is((await call('DELETE', `/secret-references/${id}`)).status, 200)
  t.is((await call('GET', `/secret-references/${id}`)).status, 404)
})

for (const [title, given, param] of [
  ['no workspace', { allowed_workspaces: [] }, 'allowed_workspaces'],
  ['a workspace that is not there', { allowed_workspaces: ['nowhere'] }, 'allowed_workspaces'],
  ['all workspaces and some', { allow_all_workspaces: true, allowed_workspaces: ['side'] }, 'allowed_workspaces'],
  ['not all workspaces, and none', { allow_all_workspaces: false }, 'allowed_workspaces'],
  ['another manager', { manager_type: 'gcp_sm' }, 'manager_type'],
  ['a sign-in of another manager', { auth_config: { aws_auth_type: 'serviceRole' } }, 'auth_config.vault_auth_type'],
  [
    'a sign-in without its secret',
    { auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example.com' } },
    'auth_config.vault_token',
  ],
  [
    'a field that the sign-in has not',
    { auth_config: { vault_auth_type: 'kubernetes', vault_addr: 'https://v.example.com', vault_role: 'r', token_file: '/etc/passwd' } },
    'auth_config.token_file',
  ],
  [
    'an address of a metadata service',
    { auth_config: { vault_auth_type: 'token', vault_addr: 'http://169.254.169.254', vault_token: 't' } },
    'auth_config.vault_addr',
  ],
  [
    'an address in a private network',
    { auth_config: { vault_auth_type: 'token', vault_addr: 'http://10.1.2.3:8200', vault_token: 't' } },
    'auth_config.vault_addr',
  ],
  [
    'an address of a metadata service as a key vault',
    { manager_type: 'azure_kv', auth_config: { azure_auth_mode: 'managed', azure_vault_url: 'http://169.254.169.254' } },
    'auth_config.azure_vault_url',
  ],
  [
    'a key vault with a path',
    { manager_type: 'azure_kv', auth_config: { azure_auth_mode: 'managed', azure_vault_url: 'https://v.vault.azure.net/secrets' } },
    'auth_config.azure_vault_url',
  ],
  [
    'a mask for what is not stored',
    { auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example.com', vault_token: '********' } },
    'auth_config.vault_token',
  ],
  ['a path that climbs', { secret_path: 'secret/../sys/seal' }, 'secret_path'],
  [
    'half a key',
    {
      manager_type: 'aws_sm',
      auth_config: {
        aws_auth_type: 'assumedRole',
        aws_role_arn: 'arn:aws:iam::123456789012:role/x',
        aws_region: 'eu-west-1',
        aws_access_key_id: 'AKID',
      },
    },
    'auth_config.aws_secret_access_key',
  ],
  [
    'a secret and a certificate',
    {
      manager_type: 'azure_kv',
      auth_config: {
        azure_auth_mode: 'entra',
        azure_vault_url: 'https://v.vault.azure.net',
        azure_entra_tenant_id: 't',
        azure_entra_client_id: 'c',
      },
    },
    'auth_config.azure_entra_client_secret',
  ],
] as const)
  test.serial(`a reference is refused: ${title}`, async (t) => {
    const { status, body } = await call('POST', '/secret-references', reference(given))
    t.is(status, 400, JSON.stringify(body))
    t.is((body as { error: { param: string } }).error.param, param)
  })

test.serial('a stored token goes to no other address behind its mask', async (t) => {
  const { id } = await made(call('POST', '/secret-references', reference()))
  const moved = { auth_config: { ...tokenAuth(), vault_addr: emulator.origin, vault_token: '********' } }
  const { status, body } = await call('PUT', `/secret-references/${id}`, moved)
  t.is(status, 400)
  t.is((body as { error: { param: string } }).error.param, 'auth_config.vault_token')
})

test.serial('a provider is asked with the secret, which is read once for all requests', async (t) => {
  const { slug, id } = await used()
  const answers = await Promise.all(Array.from({ length: 5 }, () => chatted(slug)))
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  t.true(answers.every(({ sent }) => sent === `Bearer sk-${slug}-first`))
  t.is(readsOf(`secret/data/${slug}`), 1)
  const { body } = await call('GET', `/integrations/${slug}`)
  t.deepEqual(body['secret_mappings'], [{ target_field: 'key', secret_reference_id: id, secret_key: null, value_format: null }])
  await eventually(
    async () => (await call('GET', `/secret-references/${id}`)).body['last_fetched_at'] !== null,
    5000,
    'the note of the fetch',
  )
  const { body: shown } = await call('GET', `/secret-references/${id}?include_used_by=true`)
  t.is(shown['used_by_count'], 1)
  t.like((shown['used_by'] as Fields[])[0], { kind: 'integration', slug })
  t.true(Number(shown['age_seconds']) < 60)
})

test.serial('one in use is not deleted; once nothing uses it, it is', async (t) => {
  const { slug, id } = await used()
  const refused = await call('DELETE', `/secret-references/${id}`)
  t.is(refused.status, 409)
  t.like((refused.body as { error: { used_by: Fields[] } }).error.used_by[0], { kind: 'integration', slug })
  t.is((await call('PUT', `/integrations/${slug}`, { secret_mappings: null, key: 'sk-own' })).status, 200)
  await control.refresh()
  t.is((await chatted(slug)).sent, 'Bearer sk-own')
  t.is((await call('DELETE', `/secret-references/${id}`)).status, 200)
})

test.serial('a virtual key uses a secret too, and holds its reference', async (t) => {
  const { slug: reference_slug, id } = await used({ fields: { a: 'sk-virtual', b: 'other' }, mapping: { secret_key: 'a' } })
  const key = { name: 'v', provider: 'openai', configurations: { custom_host: emulator.url }, workspace_id: 'main' }
  const mappings = [{ target_field: 'key', secret_reference_id: id, secret_key: 'b' }]
  const { data } = (await made(call('POST', '/virtual-keys', { ...key, secret_mappings: mappings }))) as unknown as {
    data: { slug: string }
  }
  t.is((await chatted(data.slug)).sent, 'Bearer other')
  t.is((await chatted(reference_slug)).sent, 'Bearer sk-virtual')
  const { body } = await call('GET', `/secret-references/${id}?include_used_by=true`)
  t.deepEqual(
    (body['used_by'] as Fields[]).map(({ kind }) => String(kind)).toSorted((a, b) => a.localeCompare(b)),
    ['integration', 'virtual_key'],
  )
})

test.serial('a provider that refuses a rotated secret is asked again with the new one at once, in the same request', async (t) => {
  const { slug } = await used()
  t.is((await chatted(slug)).status, 200)
  vault.put(`secret/${slug}`, { api_key: `sk-${slug}-second` })
  const undo = emulator.script({
    headers: { authorization: `Bearer sk-${slug}-first` },
    behaviour: { status: 401, headers: { 'content-type': 'application/json' }, body: '{"error":{"message":"Incorrect API key provided"}}' },
  })
  const before = emulator.requests.length
  const { status, sent } = await chatted(slug)
  undo()
  t.is(status, 200)
  t.is(sent, `Bearer sk-${slug}-second`)
  t.true(emulator.requests.length - before <= 2)
})

test.serial('a refusal that no new secret mends goes to the caller as it is', async (t) => {
  const { slug } = await used()
  const body = '{"error":{"message":"no such model for you"}}'
  const undo = emulator.script({
    headers: { authorization: `Bearer sk-${slug}-first` },
    behaviour: { status: 403, headers: { 'content-type': 'application/json' }, body },
  })
  const { status, text } = await chatted(slug)
  undo()
  t.is(status, 403)
  t.true(text.includes('no such model for you'))
})

test.serial('rotation is picked up without a restart and without a refusal', async (t) => {
  const { slug } = await used()
  await chatted(slug)
  vault.put(`secret/${slug}`, { api_key: `sk-${slug}-second` })
  await inTime(async () => (await chatted(slug)).sent === `Bearer sk-${slug}-second`, 'the new secret')
  t.pass()
})

for (const [mood, reason] of [
  ['hang', 'away'],
  ['sealed', 'away'],
  ['denied', 'denied'],
] as const)
  test.serial(`while the manager is ${mood} the last good value serves, for as long as it may; then requests get 503`, async (t) => {
    const { slug, id } = await used()
    t.is((await chatted(slug)).status, 200)
    vault.mood = mood
    const took: number[] = []
    for (let passedMs = 0; passedMs < 2200; passedMs += 200) {
      const began = performance.now()
      const { status, sent } = await chatted(slug)
      took.push(performance.now() - began)
      t.is(status, 200)
      t.is(sent, `Bearer sk-${slug}-first`)
      later(200)
    }
    // At most the request that met the end of the value waited for the manager.
    t.true(took.filter((ms) => ms > 350).length <= 1, String(took))
    const noted = async () => (await call('GET', `/secret-references/${id}`)).body['last_error'] as Fields | null
    await eventually(async () => (await noted()) !== null, 5000, 'the note of the failure')
    t.like(await noted(), { reason, serves_last_good: true })
    await inTime(async () => (await chatted(slug)).status === 503, 'the end of the last good value')
    const refused = await chatted(slug)
    t.like(JSON.parse(refused.text), { error: { code: 'secret_unavailable' } })
    vault.mood = 'well'
    await inTime(async () => (await chatted(slug)).status === 200, 'the manager that is back')
    await eventually(async () => (await noted()) === null, 5000, 'the note of it')
  })

const isFetched = async ({ id }: { readonly id: string }) =>
  (await call('GET', `/secret-references/${id}`)).body['last_fetched_at'] !== null

for (const [state, isNoted] of [
  ['55000', true],
  ['23514', false],
] as const)
  test.serial(`what the database refuses with ${state} holds up no other note${isNoted ? ', and is noted later' : ''}`, async (t) => {
    const [stuck, other] = [await used(), await used()]
    const { sql } = control
    await sql.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`,
    )
    await sql.query(
      `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON secret_reference_reads FOR EACH ROW WHEN (NEW.reference_id = '${stuck.id}') EXECUTE FUNCTION refuse()`,
    )
    try {
      // The one that is refused waits in front of the other.
      for (const { slug } of [stuck, other]) t.is((await chatted(slug)).status, 200)
      await eventually(() => isFetched(other), 5000, 'the note of the other')
      t.false(await isFetched(stuck))
    } finally {
      await sql.query('DROP TRIGGER refuse ON secret_reference_reads; DROP FUNCTION refuse()')
    }
    if (isNoted) await eventually(() => isFetched(stuck), 5000, 'the note that was refused')
  })

test.serial('a manager that hangs holds up nothing else', async (t) => {
  const { slug } = await used()
  const { slug: other } = await used()
  await chatted(other)
  vault.mood = 'hang'
  const waiting = chatted(slug)
  const began = performance.now()
  t.is((await chatted(other)).status, 200)
  t.true(performance.now() - began < 300)
  t.is((await waiting).status, 503)
})

test.serial('a secret that is gone is not used any longer', async (t) => {
  const { slug } = await used()
  await chatted(slug)
  vault.put(`secret/${slug}`, null)
  await inTime(async () => (await chatted(slug)).status === 503, 'the end of a deleted secret')
  t.pass()
})

test.serial('versions are pinned or latest; the changed reference counts at once', async (t) => {
  const { slug, id } = await used({ reference: { secret_version: '1' } })
  vault.put(`secret/${slug}`, { api_key: `sk-${slug}-second` })
  t.is((await chatted(slug)).sent, `Bearer sk-${slug}-first`)
  await made(call('PUT', `/secret-references/${id}`, { secret_version: null }))
  await control.refresh()
  t.is((await chatted(slug)).sent, `Bearer sk-${slug}-second`)
})

test.serial('AppRole signs in, again after its token was revoked; namespaces and version 1 of the engine too', async (t) => {
  const approle = {
    vault_auth_type: 'approle',
    vault_addr: vault.url,
    vault_role_id: vault.role.roleId,
    vault_secret_id: vault.role.secretId,
  }
  vault.setNamespace('team/a')
  const { slug } = await used({ reference: { auth_config: { ...approle, vault_namespace: 'team/a' } } })
  t.is((await chatted(slug)).status, 200)
  vault.revoke()
  vault.put(`secret/${slug}`, { api_key: `sk-${slug}-second` })
  await inTime(async () => (await chatted(slug)).sent === `Bearer sk-${slug}-second`, 'the sign-in')
  vault.setNamespace(null)
  vault.put('kv1/old', { k: 'sk-old' })
  const { slug: old } = await used({ reference: { auth_config: approle, secret_path: 'kv1/old' } })
  t.is((await chatted(old)).sent, 'Bearer sk-old')
})

test.serial('an own sign-in of the workload goes only to a vault that the operator trusts with it', async (t) => {
  const { slug } = await used({
    reference: { auth_config: { vault_auth_type: 'kubernetes', vault_addr: vault.url, vault_role: 'gateway' } },
  })
  const { status, text } = await chatted(slug)
  t.is(status, 403)
  t.true(text.includes('CLOUD_IDENTITY_HOSTS'))
  t.is(vault.calls.filter(({ url }) => url.includes('kubernetes')).length, 0)
})

test.serial('workspaces: who may not use a reference is refused, when it is mapped and when it is used', async (t) => {
  const { id, slug } = await used()
  await made(call('PUT', `/secret-references/${id}`, { allowed_workspaces: ['side'] }))
  await control.refresh()
  const refused = await chatted(slug)
  t.is(refused.status, 403)
  t.true(refused.text.includes('allowed_workspaces'))
  const mapped = {
    name: 'x',
    ai_provider_id: 'openai',
    secret_mappings: [{ target_field: 'key', secret_reference_id: id }],
    workspace_id: 'main',
  }
  t.is((await call('POST', '/integrations', mapped)).status, 403)
  t.is((await call('GET', `/secret-references/${id}`, undefined, acme.workspaceKey)).status, 404)
  t.is((await call('GET', `/secret-references/${id}`, undefined, acme.sideKey)).status, 200)
})

test.serial('a workspace key has references of its workspace alone, and changes no others', async (t) => {
  const { id: shared } = await made(call('POST', '/secret-references', reference()))
  const { id } = await made(call('POST', '/secret-references', reference({ name: 'of the side' }), acme.sideKey))
  const { body } = await call('GET', `/secret-references/${id}`)
  t.like(body, { allow_all_workspaces: false })
  t.deepEqual(
    (body['allowed_workspaces'] as Fields[]).map((one) => one['slug']),
    ['side'],
  )
  t.is((await call('GET', `/secret-references/${id}`, undefined, acme.workspaceKey)).status, 404)
  for (const sharing of [{ allow_all_workspaces: true }, { allowed_workspaces: ['main'] }, { allowed_workspaces: ['side', 'main'] }]) {
    t.is((await call('POST', '/secret-references', reference(sharing), acme.sideKey)).status, 403)
    t.is((await call('PUT', `/secret-references/${id}`, sharing, acme.sideKey)).status, 403)
  }
  for (const [method, at, sent] of [
    ['PUT', '', { name: 'y' }],
    ['DELETE', '', undefined],
    ['POST', '/test', {}],
  ] as const) {
    t.is((await call(method, `/secret-references/${shared}${at}`, sent, acme.sideKey)).status, 403)
    if (method !== 'DELETE') t.is((await call(method, `/secret-references/${id}${at}`, sent, acme.sideKey)).status, 200)
  }
  t.is((await call('GET', `/secret-references/${shared}`, undefined, acme.sideKey)).status, 200)
  await made(call('PUT', `/secret-references/${id}`, { allowed_workspaces: ['side', 'main'] }))
  t.is((await call('DELETE', `/secret-references/${id}`, undefined, acme.sideKey)).status, 403)
})

for (const [title, mapping, status, param] of [
  ['a field that decides where requests go', { target_field: 'configurations.custom_host' }, 400, 'secret_mappings[0].target_field'],
  ['a field of another provider', { target_field: 'configurations.aws_secret_access_key' }, 400, 'secret_mappings[0].target_field'],
  ['a reference that is not there', { secret_reference_id: 'nowhere' }, 404, 'secret_mappings[0].secret_reference_id'],
  ['a format that is not there', { value_format: 'xml' }, 400, 'secret_mappings[0].value_format'],
] as const)
  test.serial(`a mapping is refused: ${title}`, async (t) => {
    const { id } = await made(call('POST', '/secret-references', reference()))
    const secret_mappings = [{ target_field: 'key', secret_reference_id: id, ...(mapping as Fields) }]
    const answer = await call('POST', '/integrations', { name: 'm', ai_provider_id: 'openai', secret_mappings })
    t.is(answer.status, status, answer.text)
    t.is((answer.body as { error: { param: string } }).error.param, param)
  })

test.serial('a key that is given and mapped, a mapping twice, and who may not read references', async (t) => {
  const { id } = await made(call('POST', '/secret-references', reference()))
  const one = { target_field: 'key', secret_reference_id: id }
  const base = { name: 'm', ai_provider_id: 'openai' }
  t.is((await call('POST', '/integrations', { ...base, key: 'sk-x', secret_mappings: [one] })).status, 400)
  t.is((await call('POST', '/integrations', { ...base, secret_mappings: [one, one] })).status, 400)
  const key = await control.createKey(acme, { scopes: ['organisation_integrations.create'] })
  t.is((await call('POST', '/integrations', { ...base, secret_mappings: [one] }, key)).status, 403)
})

test.serial('a mapped secret stays with its host: who moves the host has to map it again', async (t) => {
  const { slug, id } = await used()
  const moved = { configurations: { custom_host: 'https://elsewhere.example.com' } }
  const refused = await call('PUT', `/integrations/${slug}`, moved)
  t.is(refused.status, 400)
  t.is((refused.body as { error: { param: string } }).error.param, 'secret_mappings')
  const again = { ...moved, secret_mappings: [{ target_field: 'key', secret_reference_id: id }] }
  t.is((await call('PUT', `/integrations/${slug}`, again)).status, 200)
})

test.serial('a test reads past the memory and shows names and times, never values', async (t) => {
  vault.put('secret/tried', { api_key: 'canary-value', other: 'canary-other' })
  const { id } = await made(call('POST', '/secret-references', reference({ secret_path: 'secret/tried', secret_key: 'api_key' })))
  const good = await call('POST', `/secret-references/${id}/test`)
  t.like(good.body, { object: 'secret_reference_test', passed: true, fields: ['api_key', 'other'] })
  t.false(good.text.includes('canary'))
  const { name: _, ...unstored } = reference({ secret_path: 'secret/tried', secret_key: 'missing' })
  const bad = await call('POST', '/secret-references/test', unstored)
  t.is(bad.status, 200, bad.text)
  t.deepEqual(
    (bad.body['steps'] as Fields[]).map(({ step, status }) => `${String(step)} ${String(status)}`),
    ['address passed', 'secret passed', 'field failed'],
  )
  vault.mood = 'denied'
  const denied = await call('POST', `/secret-references/${id}/test`)
  t.like((denied.body['steps'] as Fields[])[1], { status: 'failed', code: 'secret_unavailable' })
  t.is((await call('POST', `/integrations/${(await usedWell()).slug}/test`)).body['passed'], true)
})

const usedWell = () => {
  vault.mood = 'well'
  return used()
}

test.serial('canaries: neither values nor sign-ins are in the database, in the log, in metrics or in answers', async (t) => {
  const canary = 'canary-of-a-secret-0123456789'
  const { slug, id } = await used({ fields: { api_key: canary } })
  t.is((await chatted(slug)).sent, `Bearer ${canary}`)
  await eventually(async () => (await call('GET', `/secret-references/${id}`)).body['last_fetched_at'] !== null, 5000)
  const metrics = await (await fetch(`${control.origin}/metrics`)).text()
  t.regex(metrics, /gateway_secret_reads_total\{manager="hashicorp_vault",outcome="read"\} \d+/)
  const audit = await call('GET', '/audit-logs?page_size=100')
  const everything = [await control.dump(), metrics, audit.text, (await call('GET', `/integrations/${slug}`)).text].join('\n')
  for (const secret of [canary, vault.rootToken]) t.false(everything.includes(secret))
})
