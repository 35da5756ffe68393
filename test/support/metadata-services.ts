import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `hang` never answers, `throttled` and `denied` refuse every caller, `odd` gives an answer of no such service. */
export type MetadataMood = 'well' | 'hang' | 'throttled' | 'denied' | 'odd'

/** The metadata services of all clouds on one port of 127.0.0.1, as they all are at one address in truth. */
export interface MetadataServices {
  readonly url: string
  /** Method and path of each question, the first one first. */
  readonly asked: readonly string[]
  mood: MetadataMood
  /** The keys of AWS that come next; the end of those that were given is an hour away. */
  awsKeys: { readonly id: string; readonly secret: string; readonly session: string }
  /** The parameters of the service for containers. */
  containerToken: string
  /** The parameters of App Service. */
  readonly appServiceHeader: string
  /** The life of Azure's and Google's tokens, in seconds. */
  lifeS: number
  stop(): Promise<void>
}

interface Question {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
}

type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>]

/** docs.aws.amazon.com/AWSEC2 (IMDSv2), learn.microsoft.com/entra (managed identities), cloud.google.com/compute (metadata server) */
export async function startMetadataServices(): Promise<MetadataServices> {
  const asked: string[] = []
  const sessions = new Set<string>()
  let tokens = 0
  const keys = (): unknown => ({
    Code: 'Success',
    AccessKeyId: services.awsKeys.id,
    SecretAccessKey: services.awsKeys.secret,
    Token: services.awsKeys.session,
    Expiration: new Date(Date.now() + 3_600_000).toISOString(),
  })
  const instance = ({ method, url, headers }: Question): Answer => {
    if (url.pathname === '/latest/api/token') {
      if (method !== 'PUT' || headers['x-aws-ec2-metadata-token-ttl-seconds'] === undefined) return [400, '']
      sessions.add(`session-${sessions.size}`)
      return [200, `session-${sessions.size - 1}`]
    }
    if (!sessions.has(String(headers['x-aws-ec2-metadata-token']))) return [401, '']
    return url.pathname.endsWith('/security-credentials/') ? [200, 'gateway-role\n'] : [200, keys()]
  }
  const azure = (given: boolean, url: URL, version: string): Answer => {
    if (!given || url.searchParams.get('api-version') !== version) return [400, { error: 'invalid_request' }]
    tokens += 1
    const who = url.searchParams.get('client_id') ?? 'system'
    const end = Math.floor(Date.now() / 1000) + services.lifeS
    // App Service returns the end alone.
    const life = version === '2019-08-01' ? { expires_on: String(end) } : { expires_in: String(services.lifeS), expires_on: String(end) }
    return [200, { access_token: `azure-${who}-${url.searchParams.get('resource')}-${tokens}`, token_type: 'Bearer', ...life }]
  }
  const answers: readonly (readonly [path: RegExp, answer: (question: Question) => Answer])[] = [
    [/^\/latest\//, instance],
    [/^\/v1\/credentials$/, ({ headers }) => (headers.authorization === services.containerToken ? [200, keys()] : [401, ''])],
    // docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html: the path is the secret.
    [/^\/v2\/credentials\/[\w-]+$/, ({ headers }) => (headers.authorization === undefined ? [200, keys()] : [400, ''])],
    [/^\/metadata\/identity\/oauth2\/token$/, ({ headers, url }) => azure(headers['metadata'] === 'true', url, '2018-02-01')],
    [/^\/msi\/token$/, ({ headers, url }) => azure(headers['x-identity-header'] === services.appServiceHeader, url, '2019-08-01')],
    [
      /^\/computeMetadata\/v1\/instance\/service-accounts\/default\/token$/,
      ({ headers }) => {
        if (headers['metadata-flavor'] !== 'Google') return [403, '']
        tokens += 1
        return [
          200,
          { access_token: `google-${tokens}`, expires_in: services.lifeS, token_type: 'Bearer' },
          { 'metadata-flavor': 'Google' },
        ]
      },
    ],
  ]
  const moods: Readonly<Partial<Record<MetadataMood, Answer>>> = {
    throttled: [429, { error: 'canary words' }, { 'metadata-flavor': 'Google' }],
    denied: [403, { error: 'canary words' }, { 'metadata-flavor': 'Google' }],
    odd: [200, '<html>canary words</html>'],
  }
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    asked.push(`${method} ${url}`)
    if (services.mood === 'hang') return
    const question = { method, url: new URL(url, 'http://metadata'), headers }
    const answer = answers.find(([path]) => path.test(question.url.pathname))?.[1]
    give(response, moods[services.mood] ?? answer?.(question) ?? [404, ''])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const services: MetadataServices = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    mood: 'well',
    awsKeys: { id: 'ASIAINSTANCE', secret: 'a secret of the instance', session: 'session-of-the-instance' },
    containerToken: 'a-token-of-the-pod',
    appServiceHeader: 'a-header-of-app-service',
    lifeS: 3600,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return services
}

const give = (response: ServerResponse, [status, body, headers = {}]: Answer): void =>
  void response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
