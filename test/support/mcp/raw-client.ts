import { workspaceKey } from '../gateway.ts'

/** A message of JSON-RPC as it came. */
export interface RawMessage {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Record<string, unknown>
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into results of any shape
  readonly result?: Record<string, any>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> }
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly messages: readonly RawMessage[]
  readonly text: string
}

export const envelope = (capabilities: object = {}, version = '2026-07-28') => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': capabilities,
})

/** The headers of a modern request, which repeat its body. */
export function modernHeaders(body: { method?: string; params?: Record<string, unknown> }): Record<string, string> {
  const name = body.params?.['name'] ?? body.params?.['uri']
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': body.method ?? '',
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
}

/** Sends a body as it is given, and reads the whole answer. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${workspaceKey}`,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const parts = isStream
    ? text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    : text === ''
      ? []
      : [text]
  return { status: response.status, headers: response.headers, messages: parts.map((part) => JSON.parse(part)), text }
}

/** Sends a modern request. */
export function ask(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  more: { headers?: Record<string, string>; capabilities?: object; id?: string | number } = {},
): Promise<RawAnswer> {
  const body = {
    jsonrpc: '2.0',
    id: more.id ?? 1,
    method,
    params: { ...params, _meta: { ...(params['_meta'] as object), ...envelope(more.capabilities) } },
  }
  return post(url, body, { ...modernHeaders(body), ...more.headers })
}

/** Begins a session of a legacy client; gives its headers. */
export async function begin(url: string, headers: Record<string, string> = {}, capabilities: object = {}): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1' } }
  const answer = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers)
  const id = answer.headers.get('mcp-session-id')
  if (id === null) throw new Error(`no session: ${answer.status} ${answer.text}`)
  return { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25', ...headers }
}

/** Begins as a legacy client of 2025-11-25. */
export const legacyInitialize = (url: string, key: string, capabilities: object): Promise<RawAnswer> =>
  post(
    url,
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } },
    },
    { authorization: `Bearer ${key}` },
  )
