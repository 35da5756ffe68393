import type { Subject, Verdict } from '../../../../src/gateway/checks/check.ts'
import { findCheck } from '../../../../src/gateway/checks/registry.ts'
import type { Egress } from '../../../../src/gateway/egress/egress.ts'
import { noEgress } from '../credentials/fake-egress.ts'

interface Running {
  /** Whether it is the organisation's; it is, unless given. */
  readonly passesCredentials?: boolean
  readonly text?: string
  /** In place of the one. */
  readonly texts?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly egress?: Egress
  readonly now?: () => number
}

/** Makes a check ready, as it is held for many requests. */
export function readied(id: string, parameters: object) {
  const check = findCheck(id)
  if (check === null) throw new Error(id)
  return check.ready(check.parameters.parse(parameters))
}

/** Runs a check on an answer with one text, or several. */
export async function judge(
  ready: ReturnType<typeof readied>,
  { text = '', texts = [text], headers = {}, egress = noEgress(), now = Date.now, passesCredentials = true }: Running,
): Promise<Verdict> {
  const subject: Subject = {
    phase: 'output',
    parts: texts.map((said, at) => ({ path: ['choices', at, 'message', 'content'], role: 'assistant', text: said })),
    request: {
      json: { model: 'm' },
      method: 'POST',
      path: '/chat/completions',
      operation: 'chatComplete',
      dialect: 'openai-chat',
      prompted: false,
      stream: false,
      model: 'm',
      models: () => ['m'],
      provider: 'openai',
      metadata: {},
      header: (name) => headers[name],
    },
    response: { json: {}, status: 200 },
  }
  return ready.run(subject, { egress, credentials: () => null, organisationId: '', now, timeoutMs: 1000, passesCredentials })
}
