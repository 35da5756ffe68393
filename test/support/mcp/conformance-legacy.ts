import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  CompleteRequestSchema,
  ElicitResultSchema,
  CreateMessageResultSchema,
  ListRootsResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import {
  argumentsPrompt,
  defaults,
  enums,
  imagePrompt,
  named,
  plainTools,
  resourcePrompt,
  sampled,
  simplePrompt,
  staticBinary,
  staticText,
  templateData,
  text,
} from './conformance-parts.ts'
import { bodyOf, type Listening, listen } from './http.ts'

const said = (words: string) => ({ content: [text(words)] })

function registerTools(server: McpServer): void {
  for (const [name, result] of Object.entries(plainTools)) server.registerTool(name, { description: name }, async () => result)
  server.registerTool('test_tool_with_progress', { description: 'Progresses.' }, async (extra) => {
    const progressToken = extra._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      await sleep(20)
    }
    return said('done')
  })
  for (const name of ['test_tool_with_logging', 'test_logging_tool'])
    server.registerTool(name, { description: 'Logs.' }, async (extra) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } })
        await sleep(20)
      }
      return said('done')
    })
}

/** Registers tools that ask their client in the middle of a call. */
function registerQuestions(server: McpServer): void {
  const elicits = (name: string, params: Record<string, unknown>) =>
    server.registerTool(name, { description: name }, async (extra) => {
      const answer = await extra.sendRequest({ method: 'elicitation/create', params: params as never }, ElicitResultSchema)
      return said(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`)
    })
  elicits('test_elicitation_sep1034_defaults', { message: 'Defaults', requestedSchema: defaults })
  elicits('test_elicitation_sep1330_enums', { message: 'Enums', requestedSchema: enums })
  elicits('test_input_required_result_elicitation', named('What is your name?', 'name'))
  elicits('test_streaming_elicitation', named('What is your name?', 'name'))
  server.registerTool('test_elicitation', { description: 'Asks.', inputSchema: { message: z.string() } }, async ({ message }, extra) => {
    const requestedSchema = {
      type: 'object' as const,
      properties: { username: { type: 'string' as const }, email: { type: 'string' as const } },
      required: ['username', 'email'],
    }
    const answer = await extra.sendRequest({ method: 'elicitation/create', params: { message, requestedSchema } }, ElicitResultSchema)
    return said(`User response: action: ${answer.action}, content: ${JSON.stringify(answer.content ?? {})}`)
  })
  server.registerTool('test_sampling', { description: 'Samples.', inputSchema: { prompt: z.string() } }, async ({ prompt }, extra) => {
    const answer = await extra.sendRequest({ method: 'sampling/createMessage', params: sampled(prompt) }, CreateMessageResultSchema)
    return said(`LLM response: ${JSON.stringify(answer.content)}`)
  })
  server.registerTool('test_missing_capability', { description: 'Samples.' }, async (extra) =>
    said(
      JSON.stringify(await extra.sendRequest({ method: 'sampling/createMessage', params: sampled('Hello') }, CreateMessageResultSchema)),
    ),
  )
  server.registerTool('test_input_required_result_sampling', { description: 'Samples.' }, async (extra) => {
    const params = sampled('What is the capital of France?')
    return said(JSON.stringify(await extra.sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema)))
  })
  server.registerTool('test_input_required_result_list_roots', { description: 'Lists roots.' }, async (extra) =>
    said(JSON.stringify(await extra.sendRequest({ method: 'roots/list' }, ListRootsResultSchema))),
  )
  for (const name of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state'])
    server.registerTool(name, { description: 'Asks.' }, async (extra) => {
      await extra.sendRequest(
        { method: 'elicitation/create', params: named('Please confirm', 'ok', 'boolean') as never },
        ElicitResultSchema,
      )
      return said('state-ok')
    })
  server.registerTool('test_input_required_result_multiple_inputs', { description: 'Asks thrice.' }, async (extra) => {
    await Promise.all([
      extra.sendRequest({ method: 'elicitation/create', params: named('What is your name?', 'name') as never }, ElicitResultSchema),
      extra.sendRequest({ method: 'sampling/createMessage', params: sampled('Generate a greeting', 50) }, CreateMessageResultSchema),
      extra.sendRequest({ method: 'roots/list' }, ListRootsResultSchema),
    ])
    return said('done')
  })
  server.registerTool('test_input_required_result_capabilities', { description: 'Asks by what the client can.' }, async (extra) => {
    const can = server.server.getClientCapabilities() ?? {}
    if (can.sampling) await extra.sendRequest({ method: 'sampling/createMessage', params: sampled('Hello') }, CreateMessageResultSchema)
    if (can.elicitation)
      await extra.sendRequest({ method: 'elicitation/create', params: named('Who?', 'name') as never }, ElicitResultSchema)
    return said('done')
  })
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for its context.' }, async (extra) => {
    const params = named('What context should the prompt use?', 'context') as never
    await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema)
    return simplePrompt
  })
  server.registerTool('test_input_required_result_multi_round', { description: 'Asks twice.' }, async (extra) => {
    await extra.sendRequest(
      { method: 'elicitation/create', params: named('Step 1: What is your name?', 'name') as never },
      ElicitResultSchema,
    )
    await extra.sendRequest(
      { method: 'elicitation/create', params: named('Step 2: What is your color?', 'color') as never },
      ElicitResultSchema,
    )
    return said('done')
  })
}

function registerRest(server: McpServer): void {
  server.registerResource('static-text', staticText.uri, { description: 'Text.', mimeType: 'text/plain' }, async () => ({
    contents: [staticText],
  }))
  server.registerResource('static-binary', staticBinary.uri, { description: 'Bytes.', mimeType: 'image/png' }, async () => ({
    contents: [staticBinary],
  }))
  server.registerResource('watched', 'test://watched-resource', { description: 'Watched.', mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'Watched.' }],
  }))
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Data.', mimeType: 'application/json' },
    async (uri, { id }) => ({ contents: [templateData(uri.href, String(id))] }),
  )
  server.registerPrompt('test_simple_prompt', { description: 'Simple.' }, async () => simplePrompt)
  server.registerPrompt('test_prompt_with_image', { description: 'Image.' }, async () => imagePrompt)
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Arguments.', argsSchema: { arg1: z.string(), arg2: z.string() } },
    async ({ arg1, arg2 }) => argumentsPrompt(arg1, arg2),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Resource.', argsSchema: { resourceUri: z.string() } },
    async ({ resourceUri }) => resourcePrompt(resourceUri),
  )
  server.server.setRequestHandler(CompleteRequestSchema, async () => ({
    completion: { values: ['paris', 'park', 'party'], total: 150, hasMore: false },
  }))
  server.server.setRequestHandler(SubscribeRequestSchema, async () => ({}))
  server.server.setRequestHandler(UnsubscribeRequestSchema, async () => ({}))
}

function makeServer(): McpServer {
  const list = { listChanged: true }
  const server = new McpServer(
    { name: 'legacy-conformance', version: '1.0.0' },
    { capabilities: { tools: list, prompts: list, resources: { subscribe: true, ...list }, logging: {}, completions: {} } },
  )
  registerTools(server)
  registerQuestions(server)
  registerRest(server)
  server.registerTool('test_trigger_tool_change', { description: 'Changes.' }, async () => {
    server.sendToolListChanged()
    return said('changed')
  })
  server.registerTool('test_trigger_prompt_change', { description: 'Changes.' }, async () => {
    server.sendPromptListChanged()
    return said('changed')
  })
  return server
}

/** The reference server of the suite for the legacy revisions, on the official package 1.x. */
export async function startLegacyConformance(): Promise<Listening> {
  const transports = new Map<string, StreamableHTTPServerTransport>()
  return listen(
    (req, res) =>
      void (async () => {
        const body: unknown = req.method === 'POST' ? JSON.parse(await bodyOf(req)) : undefined
        const id = req.headers['mcp-session-id']
        const known = typeof id === 'string' ? transports.get(id) : undefined
        if (known !== undefined) return known.handleRequest(req, res, body)
        if (id !== undefined || (body as { method?: string } | undefined)?.method !== 'initialize') {
          res.writeHead(id === undefined ? 400 : 404, { 'content-type': 'application/json' })
          return res.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'no valid session' } }))
        }
        const transport = new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (session) => void transports.set(session, transport),
        })
        await makeServer().connect(transport)
        return transport.handleRequest(req, res, body)
      })(),
  )
}
