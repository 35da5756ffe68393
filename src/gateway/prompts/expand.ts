import { ApiError } from '../../lib/errors.ts'
import type { RequestBody } from '../wire/body.ts'
import type { PromptSource } from './prompt-source.ts'
import { matchOperation } from '../front/match.ts'
import { known, type Progress } from '../progress.ts'
import type { Fields } from './chat-body.ts'
import { renderPrompt, type Prompt } from './prompt.ts'

const chatPath = '/chat/completions'

/**
 * Puts the chat completion that a prompt makes in the place of the request: its path, its operation, the provider that the prompt
 * names, and the body, which it returns. From here on the exchange is one like any other. Throws `not_found`, `invalid_request`.
 */
export async function expandPrompt({ snapshot }: { readonly snapshot: PromptSource }, progress: Progress): Promise<RequestBody> {
  const request = progress.body?.json
  if (typeof request !== 'object' || request === null)
    throw new ApiError('invalid_request', 'A prompt takes its variables as plain JSON: without content-encoding.', {
      param: 'content-encoding',
    })
  const prompt = await findPrompt(snapshot, progress)
  const body = renderPrompt(prompt, { ...request })
  demandModel(prompt, body)
  const bytes = Buffer.from(JSON.stringify(body))
  const at = progress.path.indexOf('?')
  progress.prompt = prompt
  progress.operation = matchOperation('POST', chatPath)
  progress.upstreamPath = at === -1 ? chatPath : chatPath + progress.path.slice(at)
  return { kind: 'json', bytes, json: body, stream: null, length: bytes.length }
}

async function findPrompt(snapshot: PromptSource, { caller, operation }: Progress): Promise<Prompt> {
  const { organisationId, workspaceId } = known(caller).key
  const reference = decoded(operation.params['promptId'] ?? '')
  const found = snapshot.prompt({ organisationId, workspaceId }, reference)
  const prompt = found instanceof Promise ? await found : found
  if (prompt !== null) return prompt
  throw new ApiError('not_found', `There is no prompt ${JSON.stringify(reference.slice(0, 100))} in this workspace.`, { param: 'promptId' })
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function demandModel({ slug, version }: Prompt, { model }: Fields): void {
  if (typeof model === 'string') return
  throw new ApiError('invalid_request', `Version ${version} of the prompt ${slug} names no model. Send one as \`model\`.`, {
    param: 'model',
  })
}
