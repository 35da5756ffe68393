import { ownOrigin } from '../../app/own-origin.ts'
import type { Config } from '../../config/config.ts'
import { clientMetadata } from '../../gateway/ports/mcp.ts'

/** The paths for browsers, and for authorization servers that read the document of a client. */
export const paths = { callback: '/oauth/upstream-callback', client: '/oauth/client' } as const

const origin = (config: Config): string => ownOrigin(config).replace(/\/$/, '')

/** Returns the address to which authorization servers send people back. */
export const callbackUrl = (config: Config): string => origin(config) + paths.callback

/** Returns the document that describes Gatehouse as a client; its address is the client id. */
export const clientDocument = (config: Config) => ({
  client_id: origin(config) + paths.client,
  ...clientMetadata(callbackUrl(config)),
  client_uri: origin(config),
  token_endpoint_auth_method: 'none',
})
