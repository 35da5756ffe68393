import type { Config } from '../config/config.ts'
import { ownOrigin } from './own-origin.ts'
import type { Provisioned } from './provision.ts'

/** What a start led to. */
export interface Outcome {
  /** The first keys, when this start made them. */
  readonly provisioned: Provisioned | null
  readonly sealed: boolean
}

/** What the terminal shows when the process is up: where it is, the first keys, and lines that work when pasted. Not for the log. */
export function announcement(config: Pick<Config, 'host' | 'publicUrl' | 'init'>, port: number, { provisioned, sealed }: Outcome): string {
  const origin = ownOrigin({ ...config, port })
  if (sealed)
    return `\nGatehouse is sealed: it lacks the right encryption key, and answers 503.   Base URL: ${origin}/v1   Why: ${origin}/readyz\n\n`
  const lines = ['', `Gatehouse is ready.   Base URL: ${origin}/v1   API page: ${origin}/docs`, '']
  if (provisioned !== null) lines.push(...firstKeys(config.init, provisioned))
  lines.push('Try it:', `  curl ${origin}/v1/health`)
  const key = provisioned === null || config.init.workspaceApiKey !== null ? '$WORKSPACE_KEY' : provisioned.workspaceApiKey
  lines.push(
    '',
    "A first request, with your own provider's key:",
    `  curl ${origin}/v1/chat/completions -H "x-service-api-key: ${key}" -H "x-service-provider: openai" -H "authorization: Bearer $OPENAI_API_KEY" -H "content-type: application/json" -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Say hello"}]}'`,
    '',
    '',
  )
  return lines.join('\n')
}

const firstKeys = (init: Config['init'], { adminApiKey, workspaceApiKey }: Provisioned): readonly string[] => [
  'The first keys. They are shown this once and stored nowhere:',
  `  organisation admin key: ${init.adminApiKey === null ? adminApiKey : '(the value of INIT_ADMIN_API_KEY)'}`,
  `  workspace key:          ${init.workspaceApiKey === null ? workspaceApiKey : '(the value of INIT_WORKSPACE_API_KEY)'}`,
  '',
]
