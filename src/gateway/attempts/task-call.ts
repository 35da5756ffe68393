import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { type JoinedAnswerOptions, type JoinedAnswerParts, JoinedAnswer } from '../answers/joined-answer.ts'
import { typedBytes, type WholeAnswer } from '../answers/whole-answer.ts'
import { cutAnswer, noUnused } from '../answers/unused-answer.ts'
import type { AimedCall } from '../call.ts'
import type { TokenUsage } from '../dialects/neutral/token-usage.ts'
import { Loss } from '../dialects/neutral/loss.ts'
import { clientErrorOf, providerErrorOf } from '../dialects/tasks/errors.ts'
import { sentForm, type SentForm } from '../dialects/tasks/sent-files.ts'
import type { TaskBody, TaskTranslation } from '../dialects/tasks/task.ts'
import { formatOf, translatesTask, translateTask } from '../dialects/tasks/translate-task.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { validateForm } from '../bounds/validate.ts'
import { type AskedTask, taskOf } from '../operations/task.ts'
import { fieldsOf } from '../outgoing/prepare.ts'
import { offeredOf, type ServedOperation, servingOf } from '../providers/serving.ts'
import { cannotBeAsked, refuseOperation, refuseTask } from '../targets/refuse-operation.ts'
import { estimateTexts } from '../tokens/estimate-tokens.ts'
import { modelOf, type RequestBody } from '../wire/body.ts'
import { isForm } from '../wire/form.ts'
import { isStrict, type TranslatedCall, unchanged } from './translation.ts'

/** A task that is no conversation, in the words of its provider. */
export interface TaskCall extends TranslatedCall {
  /** The bodies of its calls; `body` is the first. */
  readonly bodies: readonly RequestBody[]
  joinedFor(inner: EgressHandler): JoinedAnswerParts
}

/** Translates a call for a task that is no conversation. Null: it asks for none, or its provider takes it as it is. Throws `invalid_request`. */
export function taskCall(aimed: AimedCall, maxHeldBytes: number): TaskCall | null {
  const { call, target } = aimed
  const asked = taskOf(call)
  if (asked === null) return null
  const { providerId } = target
  const sent = sentBy(aimed)
  const model = asked.model ?? target.model ?? modelOf(sent?.body)
  const serving = servedBy(aimed, asked, { model, sent })
  if (serving === null) return isOfProvider(aimed, asked) ? null : refuse(aimed, asked)
  if (isAsAsked(asked, serving)) return null
  if (sent === null)
    throw new ApiError('invalid_request', 'The body must be a JSON object, or a plain multipart/form-data form.', { param: 'body' })
  checkForm(asked, sent)
  const loss = new Loss({ names: {}, provider: providerId, strict: isStrict(call) })
  const translation = translateTask(
    {
      task: asked.task,
      from: asked.dialect,
      to: formatOf(serving),
      dialect: serving.dialect,
      ...sent,
      estimate: (texts) => estimateTexts(texts, serving.model),
    },
    { model: serving.model ?? '', traits: serving.traits, loss },
  )
  return translation === null ? null : toTaskCall(aimed, { asked, serving, translation, maxHeldBytes })
}

/** Throws `invalid_request` for a form with a field beyond its bounds: JSON was checked before. */
function checkForm({ operation }: AskedTask, { body, files }: SentForm): void {
  if (operation !== null && files.length > 0) validateForm(operation, body)
}

function servedBy(
  { target }: AimedCall,
  asked: AskedTask,
  how: { readonly model: string | null; readonly sent: SentForm | null },
): ServedOperation | null {
  const { operation } = asked
  const at = { model: how.model, options: how.sent?.body['provider_options'], fields: fieldsOf(target) }
  return operation === null
    ? offeredOf(target.provider, { ...asked, ...at })
    : servingOf(target.provider, { operation, dialect: asked.dialect, ...at })
}

/** Returns the caller's body, as far as it can be read: JSON, or a form that is held. */
function sentBy({ call, body }: AimedCall): SentForm | null {
  if (isFields(body.json)) return { body: body.json, files: [] }
  const { contentType } = call.headers
  return body.bytes !== null && isForm(contentType) ? sentForm(body.bytes, contentType) : null
}

/** Returns true if the provider may have a path that Gatehouse does not know. */
const isOfProvider = ({ call, target }: AimedCall, asked: AskedTask): boolean =>
  call.operation.name !== 'proxy' ||
  (asked.dialect === 'google' && target.provider.api === 'google') ||
  (asked.operation === null && !cannotBeAsked(target, { dialect: asked.dialect, path: call.upstreamPath }))

const refuse = ({ call, target }: AimedCall, asked: AskedTask): never =>
  asked.operation === null ? refuseTask(target, call.upstreamPath, asked) : refuseOperation(target, asked.operation)

/** Returns true if the provider takes the caller's body, and answers as the caller reads it. */
const isAsAsked = ({ task, operation, dialect }: AskedTask, serving: ServedOperation): boolean =>
  operation !== null &&
  serving.dialect === dialect &&
  ((serving.traits.form === null && serving.traits.host === 'own') || !translatesTask(task, dialect, formatOf(serving)))

interface TranslatedTask {
  readonly asked: AskedTask
  readonly serving: ServedOperation
  readonly translation: TaskTranslation
  readonly maxHeldBytes: number
}

function toTaskCall({ call }: AimedCall, { asked, serving, translation, maxHeldBytes }: TranslatedTask): TaskCall | null {
  const bodies = translation.bodies.map(bodyOf)
  const [body] = bodies
  const [first] = translation.bodies
  if (body === undefined || first === undefined) return null
  const { requestId } = call.exchange
  const { write, part, headers = [], suffix = '', steps, stream } = translation
  const told: { usage: TokenUsage | null; error: string | null } = { usage: null, error: null }
  let joined: JoinedAnswer | null = null
  return {
    ...unchanged(body, { path: (stream === undefined ? serving.path : serving.streamPath) + suffix, model: serving.model, stream: false }),
    baseUrl: serving.baseUrl,
    ...(steps !== undefined && { steps }),
    bodies,
    contentType: 'json' in first ? 'application/json' : first.contentType,
    headers,
    sameDialect: false,
    dropped: translation.loss.dropped,
    joinedFor(inner) {
      joined = new JoinedAnswer({
        inner,
        parts: bodies.length,
        maxHeldBytes,
        dialect: serving.dialect,
        ...(stream !== undefined && { stream }),
        ...(bodies.length > 1 && part !== undefined && { part: partReader(part, asked) }),
        write:
          write === 'as it comes'
            ? write
            : (answers) => {
                const written = write(answers, nowSeconds()) ?? noAnswer(asked)
                told.usage = written.usage
                return written
              },
        fail(answer) {
          told.error = answer.bytes.toString('utf8')
          return failure(answer, { asked, serving, requestId })
        },
      })
      return joined
    },
    unused: () => joined?.unused() ?? noUnused,
    usage: () => told.usage ?? stream?.usage() ?? null,
    providerError: () => told.error,
  }
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000)

function noAnswer({ task }: AskedTask): never {
  throw new ApiError('upstream_bad_response', `The answer of the provider is no ${task}.`)
}

/** Returns how one of several answers is read: for its charge it is written alone, in the caller's words. */
const partReader = (part: NonNullable<TaskTranslation['part']>, asked: AskedTask): NonNullable<JoinedAnswerOptions['part']> => ({
  check: (answer, at) => (part.isAnswer(answer, at) ? undefined : noAnswer(asked)),
  unused(answer, at) {
    const made = part.write(answer, at, nowSeconds())
    if (made === null) return cutAnswer
    const { body, usage, status } = made
    return { state: status === undefined ? 'made' : 'refused', written: { bytes: typedBytes(body).bytes, dialect: asked.dialect }, usage }
  },
})

function failure(
  { status, json, bytes }: WholeAnswer,
  { asked, serving, requestId }: Pick<TranslatedTask, 'asked' | 'serving'> & { readonly requestId: string },
) {
  const read = providerErrorOf(serving)(status, json ?? bytes.toString('utf8'))
  // Where the provider has its own names of fields, the one in its error means nothing to the client.
  const error = serving.dialect === asked.dialect ? read : { ...read, param: null }
  return { status: error.status, body: clientErrorOf(asked.dialect).encode(error, requestId), retryAfter: error.retryAfter }
}

function bodyOf(body: TaskBody): RequestBody {
  const { bytes } = typedBytes(body)
  const shared = { bytes, stream: null, length: bytes.length }
  return 'json' in body ? { kind: 'json', json: body.json, ...shared } : { kind: 'bytes', json: undefined, ...shared }
}
