import { exactJson } from '../../lib/json/exact-json.ts'
import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { TargetConfig } from '../config/choose.ts'
import { validateBody } from '../bounds/validate.ts'
import type { GatewaySettings } from '../settings.ts'
import type { PromptSource } from './prompt-source.ts'
import { matchOperation } from '../operations/match.ts'
import { ofOperations } from '../operations/work.ts'
import type { Call } from '../call.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import type { Fields } from './chat-body.ts'
import { renderPrompt, type Prompt } from './prompt.ts'

const chatPath = '/chat/completions'

/**
 * Returns the call that a prompt makes of a request for it: a chat completion, with the provider that the prompt names. From here on it is
 * a call like any other. Throws `not_found`, `invalid_request`.
 */
export async function expandPrompt(call: Call, snapshot: PromptSource): Promise<Call> {
  const request = requestFor(call.body?.json)
  const reference = decodeSegment(call.operation.params['promptId'] ?? '')
  const prompt = await findPrompt(call, { reference, snapshot })
  if (prompt === null) throw new ApiError('not_found', unknownPrompt(reference), { param: 'promptId' })
  const at = call.path.indexOf('?')
  const operation = matchOperation('POST', chatPath)
  return {
    ...call,
    ...renderedBy(prompt, request),
    promptRequest: request,
    operation,
    work: ofOperations.get(operation.name) ?? null,
    upstreamPath: at === -1 ? chatPath : chatPath + call.path.slice(at),
  }
}

export interface ConfigPromptDeps {
  readonly snapshot: PromptSource
  readonly settings: Pick<GatewaySettings, 'dedicatedValidation'>
}

/**
 * Returns the call that the prompt of a config makes of a chat completion, or of a request for another prompt: with the variables and
 * parameters that the client sent. Throws `invalid_request`.
 */
export async function expandConfigPrompt(
  call: Call,
  config: TargetConfig & { readonly promptId: string },
  deps: ConfigPromptDeps,
): Promise<Call> {
  const { promptId: reference } = config
  const param = `${config.option}.prompt_id`
  if (call.operation.name !== 'chatComplete')
    throw new ApiError(
      'invalid_request',
      `${param}: a prompt makes chat completions, and this request is none. Send it without the config.`,
      { param },
    )
  const request = { variables: {}, ...requestFor(call.promptRequest ?? call.body?.json) }
  validateBody('promptComplete', request, deps.settings.dedicatedValidation)
  const prompt = await findPrompt(call, { reference, snapshot: deps.snapshot })
  if (prompt === null) throw new ApiError('invalid_request', `${param}: ${unknownPrompt(reference)}`, { param })
  return { ...call, ...renderedBy(prompt, request) }
}

function requestFor(json: unknown): Fields {
  if (isFields(json)) return json
  throw new ApiError('invalid_request', 'A prompt takes its variables as plain JSON: without content-encoding.', {
    param: 'content-encoding',
  })
}

function renderedBy(prompt: Prompt, request: Fields): Pick<Call, 'prompt' | 'body'> {
  const json = renderPrompt(prompt, request)
  demandModel(prompt, json)
  const bytes = Buffer.from(exactJson(json))
  return { prompt, body: { kind: 'json', bytes, json, stream: null, length: bytes.length } }
}

interface NamedPrompt {
  readonly reference: string
  readonly snapshot: PromptSource
}

function findPrompt({ caller }: Call, { reference, snapshot }: NamedPrompt): MaybePromise<Prompt | null> {
  const { organisationId, workspaceId } = caller.key
  return snapshot.prompt({ organisationId, workspaceId }, reference)
}

const unknownPrompt = (reference: string) => `There is no prompt ${JSON.stringify(reference.slice(0, 100))} in this workspace.`

function demandModel({ slug, version }: Prompt, { model }: Fields): void {
  if (typeof model === 'string') return
  throw new ApiError('invalid_request', `Version ${version} of the prompt ${slug} names no model. Send one as \`model\`.`, {
    param: 'model',
  })
}
