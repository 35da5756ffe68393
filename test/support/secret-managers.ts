import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AwsV4Signer } from 'aws4fetch'

/** A request, as a secret manager saw it. */
export interface ManagerCall {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** `hang` never answers; `sealed` is Vault's 503; `denied` refuses every caller; `throttled` has too much to do. */
export type Mood = 'well' | 'hang' | 'sealed' | 'denied' | 'throttled'

/** A secret manager on 127.0.0.1 that keeps secrets in memory and checks its callers. */
export interface SecretManager {
  readonly url: string
  readonly calls: readonly ManagerCall[]
  mood: Mood
  stop(): Promise<void>
}

type Serve = (call: ManagerCall, response: ServerResponse) => void | Promise<void>

const json = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

async function startManager(serve: Serve, moods: Partial<Record<Mood, Serve>>): Promise<SecretManager> {
  const calls: ManagerCall[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const call = { method, url, headers, body: Buffer.concat(chunks).toString() }
      calls.push(call)
      if (manager.mood === 'hang') return
      void (moods[manager.mood] ?? serve)(call, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const manager: SecretManager = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    mood: 'well',
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return manager
}

/** A secret of version 2: its versions, the first one first; null: deleted. */
type Versions = readonly (Readonly<Record<string, unknown>> | null)[]

export interface FakeVault extends SecretManager {
  /** The token that may read everything. */
  readonly rootToken: string
  readonly role: { readonly roleId: string; readonly secretId: string }
  /** Puts a secret at `secret/…` (version 2) or `kv1/…`. */
  put(path: string, fields: Readonly<Record<string, unknown>> | null): void
  /** Makes every token that was given at a sign-in void. */
  revoke(): void
  /** Sets the namespace in which everything is; null: none. */
  setNamespace(namespace: string | null): void
  /** The tokens of service accounts that may sign in. */
  readonly jwts: Set<string>
}

/** As Vault 1.21 answers by its documents: developer.hashicorp.com/vault/api-docs. */
export async function startFakeVault(): Promise<FakeVault> {
  const rootToken = `hvs.${randomUUID()}`
  const role = { roleId: randomUUID(), secretId: randomUUID() }
  const versioned = new Map<string, Versions>()
  const plain = new Map<string, Readonly<Record<string, unknown>>>()
  const tokens = new Set<string>()
  const jwts = new Set<string>()
  const state: { namespace: string | null } = { namespace: null }
  const logIn = (response: ServerResponse) => {
    const token = `hvs.${randomUUID()}`
    tokens.add(token)
    json(response, 200, { auth: { client_token: token, lease_duration: 3600, renewable: true } })
  }
  const signIns: Readonly<Record<string, (body: Readonly<Record<string, unknown>>) => boolean>> = {
    '/v1/auth/approle/login': (body) => body['role_id'] === role.roleId && body['secret_id'] === role.secretId,
    '/v1/auth/kubernetes/login': (body) => body['role'] === 'gateway' && jwts.has(String(body['jwt'])),
    '/v1/auth/jwt/login': (body) => body['role'] === 'gateway' && jwts.has(String(body['jwt'])),
  }
  const read = (url: URL, response: ServerResponse) => {
    const path = decodeURIComponent(url.pathname.slice('/v1/'.length))
    if (path.startsWith('kv1/')) {
      const data = plain.get(path)
      return data === undefined ? json(response, 404, { errors: [] }) : json(response, 200, { data })
    }
    if (!path.startsWith('secret/data/')) {
      const warnings = ['Invalid path for a versioned K/V secrets engine. See the API docs for the appropriate API endpoints to use.']
      return json(response, 404, path.startsWith('secret/') ? { errors: [], warnings } : { errors: [`no handler for route "${path}"`] })
    }
    const versions = versioned.get(`secret/${path.slice('secret/data/'.length)}`) ?? []
    const version = Number(url.searchParams.get('version') ?? versions.length)
    const data = versions[version - 1]
    if (data === undefined) return json(response, 404, { errors: [] })
    return json(response, data === null ? 404 : 200, { data: { data, metadata: { version, destroyed: false } } })
  }
  const serve: Serve = ({ url, method, headers, body }, response) => {
    const at = new URL(url, 'http://vault')
    if (headers['x-vault-request'] !== 'true') return json(response, 412, { errors: ['missing X-Vault-Request'] })
    if ((headers['x-vault-namespace'] ?? null) !== state.namespace) return json(response, 403, { errors: ['permission denied'] })
    const signIn = signIns[at.pathname]
    if (signIn !== undefined && method === 'POST')
      return signIn(JSON.parse(body) as Record<string, unknown>)
        ? logIn(response)
        : json(response, 400, { errors: ['invalid role or secret ID'] })
    const token = headers['x-vault-token']
    if (token !== rootToken && !tokens.has(String(token))) return json(response, 403, { errors: ['permission denied'] })
    return read(at, response)
  }
  const manager = await startManager(serve, {
    sealed: (_, response) => json(response, 503, { errors: ['Vault is sealed'] }),
    denied: (_, response) => json(response, 403, { errors: ['1 error occurred:\n\t* permission denied\n\n'] }),
    throttled: (_, response) => json(response, 429, { errors: ['request path "canary": rate limit quota exceeded'] }),
  })
  return Object.assign(manager, {
    rootToken,
    role,
    jwts,
    put(path: string, fields: Readonly<Record<string, unknown>> | null) {
      if (path.startsWith('kv1/')) plain.set(path, fields ?? {})
      else versioned.set(path, [...(versioned.get(path) ?? []), fields])
    },
    revoke: () => tokens.clear(),
    setNamespace: (namespace: string | null) => void (state.namespace = namespace),
  })
}

export const awsKeys = { id: 'AKIDSECRETS', secret: 'a secret of AWS itself' }

export interface FakeAws extends SecretManager {
  /** Puts a secret in the place of the one before; null: deletes it. */
  put(
    name: string,
    secret: { readonly text?: string; readonly binary?: Buffer; readonly version?: string; readonly previous?: string } | null,
  ): void
  /** Makes keys good that another service gave. */
  know(keys: { readonly id: string; readonly secret: string; readonly session: string | null }): void
  /** The forms of questions for a role. */
  readonly assumed: readonly URLSearchParams[]
}

const refuse = (response: ServerResponse, status: number, type: string) =>
  json(response, status, { __type: `com.amazonaws#${type}`, Message: 'canary words' })

/** AWS STS, Secrets Manager and Bedrock in one: signatures are checked by another implementation. */
export async function startFakeAws(): Promise<FakeAws> {
  const secrets = new Map<string, { text?: string; binary?: Buffer; version?: string; previous?: string }>()
  const assumed: URLSearchParams[] = []
  const known = new Map<string, { secret: string; session: string | null }>([[awsKeys.id, { secret: awsKeys.secret, session: null }]])
  const isSigned = async (call: ManagerCall, service: string): Promise<boolean> => {
    const [, id = '', date = '', region = ''] = /Credential=(\w+)\/(\d+)\/([\w-]+)\//.exec(call.headers.authorization ?? '') ?? []
    const keys = known.get(id)
    const datetime = String(call.headers['x-amz-date'])
    if (keys === undefined || !datetime.startsWith(date)) return false
    const signed = /SignedHeaders=([^,]+)/.exec(call.headers.authorization ?? '')?.[1]?.split(';') ?? []
    const headers = Object.fromEntries(
      signed
        .filter((name) => !['host', 'x-amz-date', 'x-amz-security-token'].includes(name))
        .map((name) => [name, String(call.headers[name])]),
    )
    const signer = new AwsV4Signer({
      method: call.method,
      url: `${manager.url}${call.url}`,
      headers,
      body: call.body,
      accessKeyId: id,
      secretAccessKey: keys.secret,
      ...(keys.session === null ? {} : { sessionToken: keys.session }),
      service,
      region,
      datetime,
      allHeaders: true,
    })
    return (await signer.sign()).headers.get('authorization') === call.headers.authorization
  }
  const role = (response: ServerResponse, form: URLSearchParams) => {
    assumed.push(form)
    const id = `ASIA${assumed.length}`
    known.set(id, { secret: `taken ${id}`, session: `session-${id}` })
    const end = new Date(Date.now() + 3_600_000).toISOString()
    response
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(
        `<R><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>taken ${id}</SecretAccessKey><SessionToken>session-${id}</SessionToken><Expiration>${end}</Expiration></Credentials></R>`,
      )
  }
  const serve: Serve = async (call, response) => {
    if (call.url.startsWith('/model/'))
      return (await isSigned(call, 'bedrock')) ? json(response, 200, { output: 'told' }) : json(response, 403, { message: 'not signed' })
    if (call.headers['x-amz-target'] === undefined) {
      const form = new URLSearchParams(call.body)
      if (form.get('Action') === 'AssumeRoleWithWebIdentity') return role(response, form)
      if (!(await isSigned(call, 'sts'))) return void response.writeHead(403).end('<E><Code>SignatureDoesNotMatch</Code></E>')
      return role(response, form)
    }
    if (!(await isSigned(call, 'secretsmanager'))) return refuse(response, 400, 'UnrecognizedClientException')
    const { SecretId: name, VersionStage: stage, VersionId: version } = JSON.parse(call.body) as Record<string, string>
    const found = secrets.get(name ?? '')
    if (found === undefined || (version !== undefined && version !== found.version))
      return refuse(response, 400, 'ResourceNotFoundException')
    if (found.binary !== undefined) return json(response, 200, { Name: name, SecretBinary: found.binary.toString('base64') })
    return json(response, 200, { Name: name, SecretString: stage === 'AWSPREVIOUS' ? found.previous : found.text })
  }
  const manager = await startManager(serve, {
    denied: (_, response) => refuse(response, 400, 'AccessDeniedException'),
    throttled: (_, response) => refuse(response, 400, 'ThrottlingException'),
  })
  return Object.assign(manager, {
    assumed,
    know: ({ id, ...keys }: Parameters<FakeAws['know']>[0]) => void known.set(id, keys),
    put: (name: string, secret: Parameters<FakeAws['put']>[1]) => void (secret === null ? secrets.delete(name) : secrets.set(name, secret)),
  })
}

export const azureApplication = { tenant: '0f0e1d2c-0000-4000-8000-000000000000', client: 'an-application', secret: 'a secret of Entra' }

export interface FakeAzure extends SecretManager {
  put(name: string, ...versions: readonly string[]): void
  /** The forms that Entra was sent. */
  readonly grants: readonly URLSearchParams[]
}

/** Microsoft Entra and a key vault in one. `knows`: tokens that another service gave. */
export async function startFakeAzure(
  accepts: (form: URLSearchParams) => boolean,
  knows: (token: string) => boolean = () => false,
): Promise<FakeAzure> {
  const secrets = new Map<string, readonly string[]>()
  const grants: URLSearchParams[] = []
  const tokens = new Set<string>()
  const serve: Serve = ({ url, method, headers, body }, response) => {
    if (method === 'POST') {
      const form = new URLSearchParams(body)
      grants.push(form)
      if (!accepts(form)) return json(response, 401, { error: 'invalid_client', error_description: 'canary words' })
      const token = `entra-${randomUUID()}`
      tokens.add(token)
      return json(response, 200, { access_token: token, expires_in: 3599 })
    }
    const token = (headers.authorization ?? '').replace('Bearer ', '')
    if (!tokens.has(token) && !knows(token)) return json(response, 401, { error: { code: 'Unauthorized' } })
    const at = new URL(url, 'http://vault')
    const [, , name = '', version] = at.pathname.split('/')
    const versions = secrets.get(name) ?? []
    const value = version === undefined ? versions.at(-1) : versions[Number(version.replace('v', '')) - 1]
    if (at.searchParams.get('api-version') !== '7.4') return json(response, 400, { error: { code: 'BadParameter' } })
    return value === undefined ? json(response, 404, { error: { code: 'SecretNotFound' } }) : json(response, 200, { value, id: url })
  }
  const manager = await startManager(serve, {
    denied: (_, response) => json(response, 403, { error: { code: 'Forbidden' } }),
    throttled: (_, response) => json(response, 429, { error: { code: 'Throttled' } }),
  })
  return Object.assign(manager, {
    grants,
    put: (name: string, ...versions: readonly string[]) => void secrets.set(name, versions),
  })
}
