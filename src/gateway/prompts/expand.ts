import { ApiError } from '../../lib/errors.ts'
import type { PromptSource } from './prompt-source.ts'
import { matchOperation } from '../front/match.ts'
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
  const request = call.body?.json
  if (typeof request !== 'object' || request === null)
    throw new ApiError('invalid_request', 'A prompt takes its variables as plain JSON: without content-encoding.', {
      param: 'content-encoding',
    })
  const prompt = await findPrompt(call, snapshot)
  const json = renderPrompt(prompt, { ...request })
  demandModel(prompt, json)
  const bytes = Buffer.from(JSON.stringify(json))
  const at = call.path.indexOf('?')
  return {
    ...call,
    prompt,
    operation: matchOperation('POST', chatPath),
    upstreamPath: at === -1 ? chatPath : chatPath + call.path.slice(at),
    body: { kind: 'json', bytes, json, stream: null, length: bytes.length },
  }
}

async function findPrompt({ caller, operation }: Call, snapshot: PromptSource): Promise<Prompt> {
  const { organisationId, workspaceId } = caller.key
  const reference = decodeSegment(operation.params['promptId'] ?? '')
  const found = snapshot.prompt({ organisationId, workspaceId }, reference)
  const prompt = found instanceof Promise ? await found : found
  if (prompt !== null) return prompt
  throw new ApiError('not_found', `There is no prompt ${JSON.stringify(reference.slice(0, 100))} in this workspace.`, { param: 'promptId' })
}

function demandModel({ slug, version }: Prompt, { model }: Fields): void {
  if (typeof model === 'string') return
  throw new ApiError('invalid_request', `Version ${version} of the prompt ${slug} names no model. Send one as \`model\`.`, {
    param: 'model',
  })
}
