import { ownOrigin } from '../../app/own-origin.ts'
import type { Config } from '../../config/config.ts'
import { invokeScope } from '../../gateway/ports/mcp.ts'
import { ApiError } from '../../lib/errors.ts'
import { serverPathOf } from './resources.ts'

/** The paths of the authorization server. */
export const paths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
} as const

/** The path below which the metadata of each server is (RFC 9728). */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource'

/** The addresses of the metadata of the authorization server: RFC 8414 and OpenID Connect, which clients behind a path ask for. */
export const serverMetadataPaths: ReadonlySet<string> = new Set([
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
])

/** Returns the name of the authorization server: the address by which people reach this installation. */
export const issuerOf = (config: Config): string => ownOrigin(config).replace(/\/$/, '')

/** Returns the metadata of the authorization server (RFC 8414), with the parts of the standard that it has. */
export function serverMetadata(config: Config) {
  const issuer = issuerOf(config)
  return {
    issuer,
    authorization_endpoint: issuer + paths.authorize,
    token_endpoint: issuer + paths.token,
    revocation_endpoint: issuer + paths.revoke,
    scopes_supported: [invokeScope],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  }
}

/** Returns the metadata of a server (RFC 9728). It is the same for a server that is not there: strangers learn no names. */
export function resourceMetadata(config: Config, path: string) {
  const issuer = issuerOf(config)
  const resource = issuer + path
  if (serverPathOf(config, resource) === null)
    throw new ApiError('not_found', `There is no MCP server at ${path.slice(0, 200)}: its address ends with /mcp or /sse.`)
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [invokeScope],
    bearer_methods_supported: ['header'],
  }
}
