import { ownOrigin } from '../../app/own-origin.ts'
import type { Config } from '../../config/config.ts'

/** The address below which resources are, whichever of the paths a client uses. */
export const scimBase = (config: Config): string => `${ownOrigin(config)}/scim/v2`
