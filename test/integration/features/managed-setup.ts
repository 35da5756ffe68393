import OpenAI, { toFile } from 'openai'
import { eventually } from '../../support/eventually.ts'
import type { Control, Tenant } from './setup.ts'

/** OpenAI's own client, which names no provider: its files and batches are Gatehouse's. */
export const clientOf = (origin: string, apiKey: string, headers: Record<string, string> = {}): OpenAI =>
  new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 4, defaultHeaders: headers })

/** Stores a provider `@p` of all workspaces of a tenant. */
export async function storeProvider(control: Control, { adminKey }: Tenant, url: string): Promise<void> {
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: url } }
  const made = await control.call(adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'p' })
  const shared = await control.call(adminKey, 'PUT', '/integrations/p/workspaces', {
    global_workspace_access: { enabled: true },
    create_default_provider: true,
  })
  if (made.status !== 200 || shared.status !== 200) throw new Error(made.text + shared.text)
}

/** A line of an input file. */
export const lineOf = (id: string, content: string, more: object = {}): object => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: '@p/gpt-4o-mini', messages: [{ role: 'user', content }], ...more },
})

export const uploadLines = async (client: OpenAI, lines: readonly unknown[]): Promise<OpenAI.FileObject> =>
  client.files.create({
    purpose: 'batch',
    file: await toFile(
      Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')),
      'lines.jsonl',
    ),
  })

export const startBatch = async (
  client: OpenAI,
  lines: readonly unknown[],
  more: Partial<OpenAI.BatchCreateParams> = {},
): Promise<OpenAI.Batch> => {
  const { id } = await uploadLines(client, lines)
  return client.batches.create({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h', ...more })
}

const over: ReadonlySet<string> = new Set(['completed', 'expired', 'cancelled', 'failed'])

/** Resolves with a batch when it has ended. */
export async function ended(client: OpenAI, id: string, withinMs = 30_000): Promise<OpenAI.Batch> {
  let batch = await client.batches.retrieve(id)
  await eventually(
    async () => {
      batch = await client.batches.retrieve(id)
      return over.has(batch.status)
    },
    withinMs,
    'the end of a batch',
  )
  return batch
}

export interface ResultLine {
  readonly id: string
  readonly custom_id: string
  readonly attempts?: number
  readonly response: { readonly status_code: number; readonly request_id: string; readonly body: Record<string, unknown> } | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Returns the lines of a result file; none without a file. */
export async function resultsOf(client: OpenAI, id: string | null | undefined): Promise<readonly ResultLine[]> {
  if (id === null || id === undefined) return []
  const text = await (await client.files.content(id)).text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ResultLine)
}
