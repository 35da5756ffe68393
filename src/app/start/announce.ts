import type { Config } from '../../config/config.ts'
import { fixedLevel } from '../../release/level.ts'
import { ownOrigin } from '../own-origin.ts'
import type { FirstTenant } from './provision.ts'

/** The result of a start. */
export interface Outcome {
  /** The first keys, when this start made them. */
  readonly provisioned: FirstTenant | null
  readonly sealed: boolean
  /** There is a provider that needs no key. */
  readonly hasDemo?: boolean
}

type Settings = Pick<Config, 'host' | 'publicUrl' | 'init' | 'logFile' | 'tls' | 'roles' | 'version' | 'releaseLevel'>

/** Returns the text on the terminal when the process is up: its address, the first keys, and lines that work when pasted. Not for the log. */
export function announcement(config: Settings, port: number, { provisioned, sealed, hasDemo = false }: Outcome): string {
  const origin = ownOrigin({ ...config, port })
  if (sealed)
    return `\nGatehouse is sealed: it lacks the right encryption key, and answers 503.   Base URL: ${origin}/v1   Why: ${origin}/readyz\n\n`
  const log = config.logFile === null ? '' : `   Log: ${config.logFile}`
  const signIn = config.roles.has('control') ? `   Sign in: ${origin}/console` : ''
  const makesProvider = fixedLevel(config.releaseLevel ?? config.version).atLeast('1.11.2')
  return [
    '',
    `Gatehouse is ready.   Base URL: ${origin}/v1   API page: ${origin}/docs${signIn}${log}`,
    '',
    ...(provisioned === null ? [] : firstKeys(config.init, provisioned)),
    ...(provisioned !== null && config.roles.has('control') ? ownerLink : []),
    ...(hasDemo ? demoCall(origin, keysToPaste(config.init, provisioned)) : []),
    ...firstMinute(origin, keysToPaste(config.init, provisioned), { makesProvider }),
    '',
    '',
  ].join('\n')
}

const firstKeys = (init: Config['init'], { adminApiKey, workspaceApiKey }: FirstTenant): readonly string[] => [
  'The first keys. They are shown this once and stored nowhere. This makes another one:',
  '',
  '  npm run -s gatehouse -- keys create workspace service --name "Another key" --scopes all',
  '',
  `  organisation admin key: ${init.adminApiKey === null ? adminApiKey : '(the value of INIT_ADMIN_API_KEY)'}`,
  `  workspace key:          ${init.workspaceApiKey === null ? workspaceApiKey : '(the value of INIT_WORKSPACE_API_KEY)'}`,
  '',
]

const ownerLink = [
  'This prints a link that serves once. It makes its user the owner, and opens the first run in a browser:',
  '',
  '  npm run -s gatehouse -- owner link',
  '',
]

interface Keys {
  readonly admin: string
  readonly workspace: string
}

/** A key that was given in a setting, or that an earlier start made, is not repeated. */
const keysToPaste = (init: Config['init'], provisioned: FirstTenant | null): Keys => ({
  admin: provisioned === null || init.adminApiKey !== null ? '$ADMIN_KEY' : provisioned.adminApiKey,
  workspace: provisioned === null || init.workspaceApiKey !== null ? '$WORKSPACE_KEY' : provisioned.workspaceApiKey,
})

const json = '-H "content-type: application/json"'

/** Before 1.11.2 a stored account makes no provider: a workspace gets one by a call of its own. */
interface FirstSteps {
  readonly makesProvider: boolean
}

const demoCall = (origin: string, { workspace }: Keys): readonly string[] => [
  'The demo provider answers without a key and without a network. Its model `error-429` fails, with any status from 400 to 599:',
  '',
  `  curl ${origin}/v1/chat/completions -H "authorization: Bearer ${workspace}" ${json} -d '{"model":"@demo/demo-chat","messages":[{"role":"user","content":"Say hello"}]}'`,
  '',
]

const firstMinute = (origin: string, { admin, workspace }: Keys, { makesProvider }: FirstSteps): readonly string[] => [
  "A first minute, with your own provider's key in OPENAI_API_KEY:",
  '',
  '  1. Store a provider',
  `  curl ${origin}/v1/integrations -H "x-service-api-key: ${admin}" ${json} -d "{\\"name\\":\\"OpenAI\\",\\"slug\\":\\"openai-prod\\",\\"ai_provider_id\\":\\"openai\\",\\"key\\":\\"$OPENAI_API_KEY\\"}"`,
  ...(makesProvider
    ? []
    : [
        `  curl ${origin}/v1/providers -H "x-service-api-key: ${admin}" ${json} -d '{"name":"OpenAI","slug":"openai-prod","integration_id":"openai-prod"}'`,
      ]),
  '',
  '  2. Call it',
  `  curl ${origin}/v1/chat/completions -H "authorization: Bearer ${workspace}" ${json} -d '{"model":"@openai-prod/gpt-4o-mini","messages":[{"role":"user","content":"Say hello"}]}'`,
  '',
  '  3. Read the log, a moment later',
  `  curl "${origin}/v1/logs?page_size=1" -H "x-service-api-key: ${workspace}"`,
]
