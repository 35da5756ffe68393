import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { JoinedAnswer, type WholeAnswer } from '../answers/joined-answer.ts'
import type { AimedCall } from '../call.ts'
import type { TokenUsage } from '../dialects/neutral/token-usage.ts'
import { Loss } from '../dialects/neutral/loss.ts'
import { clientErrorOf, providerErrorOf } from '../dialects/tasks/errors.ts'
import type { TaskTranslation } from '../dialects/tasks/task.ts'
import { formatOf, translateTask } from '../dialects/tasks/translate-task.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { type AskedTask, taskOf } from '../front/task.ts'
import { withDefaults } from '../providers/endpoint.ts'
import { offeredOf, type Serving, servingOf } from '../providers/serving.ts'
import { refuseOperation } from '../targets/refuse-operation.ts'
import { estimateTexts } from '../tokens/estimate-tokens.ts'
import { modelOf, type RequestBody } from '../wire/body.ts'
import { isStrict, type TranslatedCall, unchanged } from './translation.ts'

/** A task that is no conversation, in the words of its provider. */
export interface TaskCall extends TranslatedCall {
  /** The bodies of its calls; `body` is the first. */
  readonly bodies: readonly RequestBody[]
  joinedFor(inner: EgressHandler): JoinedAnswer
}

/** Translates a call for a task that is no conversation. Null: it asks for none, or its provider takes it as it is. Throws `invalid_request`. */
export function taskCall(aimed: AimedCall, maxHeldBytes: number): TaskCall | null {
  const { call, target, body } = aimed
  const asked = taskOf(call)
  if (asked === null || !isFields(body.json)) return null
  const { provider, providerId, credential } = target
  const model = asked.model ?? target.model ?? modelOf(body.json)
  const { operation } = asked
  const at = { model, fields: withDefaults(provider, credential.fields) }
  const serving = operation === null ? offeredOf(provider, { ...asked, ...at }) : servingOf(provider, { operation, ...at })
  if (serving === null) return operation === null || isOfProvider(aimed, asked) ? null : refuseOperation(providerId, operation)
  if (isAsAsked(asked, serving)) return null
  const loss = new Loss({ names: {}, provider: providerId, strict: isStrict(call) })
  const translation = translateTask(
    {
      task: asked.task,
      from: asked.dialect,
      to: formatOf(serving),
      dialect: serving.dialect,
      body: body.json,
      estimate: (texts) => estimateTexts(texts, serving.model),
    },
    { model: serving.model ?? '', traits: serving.traits, loss },
  )
  return translation === null ? null : toTaskCall(aimed, { asked, serving, translation, maxHeldBytes })
}

/** Returns true if the provider may know the path of the caller, of which Gatehouse knows nothing. */
const isOfProvider = ({ call, target: { provider } }: AimedCall, { dialect }: AskedTask): boolean =>
  call.operation.name !== 'proxy' || (dialect === 'google' && provider.api === 'google')

/** Returns true if the provider takes what the caller sends, and answers as the caller reads it. */
const isAsAsked = ({ operation, dialect }: AskedTask, serving: Serving): boolean =>
  operation !== null && serving.dialect === dialect && serving.traits.form === null && serving.traits.host === 'own'

interface Translated {
  readonly asked: AskedTask
  readonly serving: Serving
  readonly translation: TaskTranslation
  readonly maxHeldBytes: number
}

function toTaskCall({ call }: AimedCall, { asked, serving, translation, maxHeldBytes }: Translated): TaskCall | null {
  const bodies = translation.bodies.map(bodyOf)
  const [body] = bodies
  if (body === undefined) return null
  const { requestId } = call.exchange
  const told: { usage: TokenUsage | null; error: string | null } = { usage: null, error: null }
  return {
    ...unchanged(body, { path: serving.path, model: serving.model, stream: false }),
    bodies,
    sameDialect: false,
    dropped: translation.loss.dropped,
    joinedFor: (inner) =>
      new JoinedAnswer({
        inner,
        parts: bodies.length,
        maxHeldBytes,
        write(answers) {
          const written = translation.write(answers)
          if (written === null) throw new ApiError('upstream_bad_response', `The provider answered with what is no ${asked.task}.`)
          told.usage = written.usage
          return written.body
        },
        fail(answer) {
          told.error = answer.text
          return failure(answer, { asked, serving, requestId })
        },
      }),
    usage: () => told.usage,
    providerError: () => told.error,
  }
}

function failure(
  { status, json, text }: WholeAnswer,
  { asked, serving, requestId }: Pick<Translated, 'asked' | 'serving'> & { readonly requestId: string },
) {
  const error = providerErrorOf(serving)(status, json ?? text)
  return { status: error.status, body: clientErrorOf(asked.dialect).encode(error, requestId) }
}

function bodyOf(json: Readonly<Record<string, unknown>>): RequestBody {
  const bytes = Buffer.from(JSON.stringify(json))
  return { kind: 'json', bytes, json, stream: null, length: bytes.length }
}
