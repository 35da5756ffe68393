import { ownOrigin } from '../../app/own-origin.ts'
import type { Config } from '../../config/config.ts'
import { ApiError } from '../../lib/errors.ts'

/** The page on which a person connects a server. */
export const connectPath = '/oauth/connect'

/** Returns the address at which a person connects a server. */
export const connectUrl = (config: Config, serverId: string): string =>
  `${ownOrigin(config).replace(/\/$/, '')}${connectPath}?server=${serverId}`

/** The refusal of a call for which its person has to sign in at the server first. */
export function authorizationRequired(config: Config, serverId: string): ApiError {
  const url = connectUrl(config, serverId)
  return new ApiError('authorization_required', `Sign in at this MCP server first: open ${url} in a browser, then call again.`, {
    details: { url },
  })
}
