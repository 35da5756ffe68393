import { feature } from '../../app/feature.ts'

/** Settings that an organisation has under its own route; their effect is in `lib/roles.ts`, which both planes follow. */
const settings = { requires: ['organisations'], permissions: [], entities: [], routes: [] }

/** The settings for viewing and editing configs. */
export const configsSecurity = feature({ id: 'configs-security', since: '1.3.0', ...settings })

/** The settings for viewing and editing prompts. */
export const promptAccess = feature({ id: 'prompt-access', since: '1.10.0', ...settings })

/** The settings by which members and managers see the logs of others. */
export const dataVisibility = feature({ id: 'data-visibility', since: '1.11.0', ...settings })
