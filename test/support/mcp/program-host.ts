import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { makeAuthority, makeCertificate } from '../certificates.ts'

/** An answer of the host. */
export interface HostAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** A host that serves metadata documents of programs over TLS, trusted by this process. */
export interface ProgramHost {
  /** `https://localhost:PORT` */
  readonly origin: string
  /** The paths that were asked for, in order. */
  readonly asked: readonly string[]
  /** Sets the answer at a path. */
  answer(path: string, answer: HostAnswer): void
  /** Serves the document of a program at a path, and returns its client id. */
  serve(path: string, fields?: object): string
  stop(): Promise<void>
}

export const redirectUri = 'http://127.0.0.1/callback'

export async function startProgramHost(): Promise<ProgramHost> {
  const authority = makeAuthority('programs')
  setDefaultCACertificates([...getCACertificates('default'), authority.cert])
  const { cert, key } = makeCertificate(authority, 'localhost')
  const answers = new Map<string, HostAnswer>()
  const asked: string[] = []
  const server = createServer({ cert, key }, (req, res) => {
    const path = req.url ?? '/'
    asked.push(path)
    const { status = 200, headers = {}, body } = answers.get(path) ?? { status: 404, body: '' }
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  const answer = (path: string, given: HostAnswer) => void answers.set(path, given)
  return {
    origin,
    asked,
    answer,
    serve(path, fields = {}) {
      const document = {
        client_id: origin + path,
        client_name: 'Notes on <b>tickets</b>',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }
      answer(path, { body: JSON.stringify({ ...document, ...fields }) })
      return origin + path
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Documents that no program is let in with, each set at a path of a host; the client id is returned. */
export const badDocuments: readonly [what: string, make: (host: ProgramHost, path: string) => string][] = [
  [
    'of 10 MB',
    (host, path) => (
      host.answer(path, { body: JSON.stringify({ client_id: host.origin + path, text: 'a'.repeat(10_000_000) }) }),
      host.origin + path
    ),
  ],
  [
    'that redirects',
    (host, path) => (
      host.serve('/real.json'),
      host.answer(path, { status: 302, headers: { location: `${host.origin}/real.json` }, body: '' }),
      host.origin + path
    ),
  ],
  ['of another client id', (host, path) => host.serve(path, { client_id: `${host.origin}/other.json` })],
  ['with a shared secret', (host, path) => host.serve(path, { token_endpoint_auth_method: 'client_secret_post' })],
  [
    'with a key of its own',
    (host, path) => host.serve(path, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${host.origin}/jwks` }),
  ],
  ['with a scheme of its own', (host, path) => host.serve(path, { redirect_uris: ['notes://callback', redirectUri] })],
  ['with plain http', (host, path) => host.serve(path, { redirect_uris: ['http://notes.example/callback', redirectUri] })],
  ['that is no JSON', (host, path) => (host.answer(path, { body: 'a page' }), host.origin + path)],
  ['that is not there', (host, path) => host.origin + path],
  ['at a private address', () => 'https://10.1.2.3/client.json'],
  ['at a metadata service', () => 'https://169.254.169.254/client.json'],
  ['without TLS', () => 'http://127.0.0.1/client.json'],
  ['without a path of its own', (host) => `${host.origin}/a/../b.json`],
]
