import type { MountedApp, MountedRequest } from '../../app/mounted-app.ts'
import { ApiError } from '../../lib/errors.ts'
import { authorize } from './authorize.ts'
import { paths, resourceMetadata, resourceMetadataPath, serverMetadata, serverMetadataPaths } from './metadata.ts'
import { answerProgram } from './programs.ts'

/** The authorization server for the clients of MCP (ADR 59). */
export const authorizationServer: MountedApp = {
  paths: [
    paths.authorize,
    `${paths.authorize}/`,
    paths.token,
    paths.revoke,
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    `${resourceMetadataPath}/`,
  ],
  async handle(request) {
    const { config } = request.deps
    const url = new URL(request.req.url ?? '/', 'http://own.invalid')
    const path = url.pathname
    if (path.startsWith(`${resourceMetadataPath}/`)) return send(request, resourceMetadata(config, path.slice(resourceMetadataPath.length)))
    if (serverMetadataPaths.has(path)) return send(request, serverMetadata(config))
    return path === paths.token || path === paths.revoke ? answerProgram(request, path) : authorize(request, url)
  },
}

/** Answers with a document that any page may read, since it is the same for all. */
function send({ req, res }: MountedRequest, document: object): 'answered' {
  if (req.method !== 'GET' && req.method !== 'HEAD' && req.method !== 'OPTIONS')
    throw new ApiError('method_not_allowed', 'This address takes GET.', { headers: ['allow', 'GET, HEAD, OPTIONS'] })
  const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'cache-control': 'public, max-age=300' }
  if (req.method === 'OPTIONS') res.writeHead(204, headers).end()
  else res.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(document))
  return 'answered'
}
