import { ApiError } from '../../../lib/errors.ts'
import { isFields } from '../../../lib/json/fields.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { mcpFault, resultOf } from '../protocol/faults.ts'
import { requestText, type RpcAnswer, type RpcCall } from '../protocol/messages.ts'
import type { QuestionResults, UpstreamRequest } from '../upstream/upstream-request.ts'
import type { LegacyEar, LegacyTalk } from './legacy-talk.ts'
import { heldBounds } from './held-calls.ts'

/** The capability that a client needs to answer a question. */
const neededFor: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

interface AskMeans {
  readonly ear: LegacyEar
  readonly signal: AbortSignal
}

/** Returns the way to ask a legacy client: requests on the stream of its call, which it answers by messages of its own. Null: it cannot be asked. */
export function askLegacy({ session, client }: LegacyTalk, { ear, signal }: AskMeans): UpstreamRequest['ask'] {
  if (session === null) return null
  return async (questions) => {
    const asked = Object.entries(questions).map(async ([key, question]) => {
      demandCapability(question, client.capabilities)
      const id = `gatehouse-${uuidv7()}`
      const { promise, resolve, reject } = Promise.withResolvers<RpcAnswer>()
      const timer = setTimeout(() => reject(unanswered()), heldBounds.waitMs)
      const onAbort = (): void => reject(new ApiError('client_closed', 'The call was cancelled.'))
      signal.addEventListener('abort', onAbort, { once: true })
      session.questions.set(id, resolve)
      ear.say(requestText(id, question))
      try {
        return [key, resultOf(await promise)] as const
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        session.questions.delete(id)
      }
    })
    const results: QuestionResults = Object.fromEntries(await Promise.all(asked))
    return results
  }
}

const unanswered = () => new ApiError('request_timeout', 'The client did not answer the question of the MCP server.')

/** Throws for a question that a client with these capabilities cannot answer. */
export function demandCapability({ method }: RpcCall, capabilities: LegacyTalk['client']['capabilities']): void {
  const needed = neededFor[method]
  if (needed !== undefined && isFields(capabilities[needed])) return
  throw mcpFault('missingCapability', `The MCP server asks by ${method.slice(0, 60)}, which the client does not support.`, {
    requiredCapabilities: needed === undefined ? {} : { [needed]: {} },
  })
}
