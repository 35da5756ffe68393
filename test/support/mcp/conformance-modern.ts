import { setTimeout as sleep } from 'node:timers/promises'
import {
  createMcpHandler,
  inputRequired,
  McpServer,
  ProtocolError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
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
  user,
} from './conformance-parts.ts'
import { type Listening, listen, serveWeb } from './http.ts'

type Requests = NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>

const given = (ctx: ServerContext, key: string): unknown => ctx.mcpReq.inputResponses?.[key]
const stateOf = (ctx: ServerContext): string | undefined => {
  const { requestState } = ctx.mcpReq as { requestState?: unknown }
  const value: unknown = typeof requestState === 'function' ? requestState() : requestState
  return typeof value === 'string' ? value : undefined
}
const said = (words: string) => ({ content: [text(words)] })
const elicitName = () => inputRequired.elicit(named('What is your name?', 'name') as Parameters<typeof inputRequired.elicit>[0])
const elicit = (message: string, field: string, type: 'string' | 'boolean' = 'string') =>
  inputRequired.elicit(named(message, field, type) as Parameters<typeof inputRequired.elicit>[0])

/** Asks until all keys are answered. */
function asking(server: McpServer, name: string, requests: Requests, requestState?: string): void {
  server.registerTool(name, { description: name }, async (ctx) => {
    const isAnswered = Object.keys(requests).every((key) => given(ctx, key) !== undefined)
    if (isAnswered && requestState !== undefined && stateOf(ctx) !== requestState) throw new ProtocolError(-32602, 'the state is another')
    return isAnswered
      ? said('Hello, state-ok')
      : inputRequired({ inputRequests: requests, ...(requestState !== undefined && { requestState }) })
  })
}

function registerQuestions(server: McpServer): void {
  const capital = inputRequired.createMessage(sampled('What is the capital of France?'))
  asking(server, 'test_input_required_result_elicitation', { user_name: elicitName() })
  asking(server, 'test_input_required_result_sampling', { capital_question: capital })
  asking(server, 'test_input_required_result_list_roots', { client_roots: inputRequired.listRoots() })
  asking(server, 'test_input_required_result_request_state', { confirm: elicit('Please confirm', 'ok', 'boolean') }, 'a state')
  asking(server, 'test_input_required_result_tampered_state', { confirm: elicit('Please confirm', 'ok', 'boolean') }, 'a state')
  const greeting = inputRequired.createMessage(sampled('Generate a greeting', 50))
  const all = { user_name: elicitName(), greeting, client_roots: inputRequired.listRoots() }
  asking(server, 'test_input_required_result_multiple_inputs', all, 'several')
  server.registerTool('test_input_required_result_multi_round', { description: 'Asks twice.' }, async (ctx) => {
    if (stateOf(ctx) === 'round 2') return said('done')
    if (stateOf(ctx) === 'round 1')
      return inputRequired({ inputRequests: { step2: elicit('Step 2: What is your favorite color?', 'color') }, requestState: 'round 2' })
    return inputRequired({ inputRequests: { step1: elicit('Step 1: What is your name?', 'name') }, requestState: 'round 1' })
  })
  server.registerTool('test_input_required_result_capabilities', { description: 'Asks by what the client can.' }, async (ctx) => {
    const can = server.server.getClientCapabilities() ?? {}
    const requests: Requests = {
      ...(can.sampling && { question: capital }),
      ...(can.elicitation && { user_name: elicitName() }),
      ...(can.roots && { client_roots: inputRequired.listRoots() }),
    }
    const isAnswered = Object.keys(requests).every((key) => given(ctx, key) !== undefined)
    return isAnswered ? said('done') : inputRequired({ inputRequests: requests })
  })
  server.registerTool('test_missing_capability', { description: 'Needs sampling.' }, async () =>
    inputRequired({ inputRequests: { question: capital } }),
  )
  server.registerTool('test_streaming_elicitation', { description: 'Asks.' }, async (ctx) =>
    given(ctx, 'user_name') === undefined ? inputRequired({ inputRequests: { user_name: elicitName() } }) : said('done'),
  )
  server.registerTool(
    'test_sampling',
    { description: 'Samples.', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      const answer = given(ctx, 'llm')
      if (answer === undefined) return inputRequired({ inputRequests: { llm: inputRequired.createMessage(sampled(prompt)) } })
      return said(`LLM response: ${JSON.stringify(answer)}`)
    },
  )
  const elicits = (name: string, ask: (message: string) => unknown, label: string) =>
    server.registerTool(
      name,
      { description: name, inputSchema: z.object({ message: z.string().default('') }) },
      async ({ message }, ctx) => {
        const answer = given(ctx, 'person') as { action: string; content?: unknown } | undefined
        if (answer === undefined)
          return inputRequired({ inputRequests: { person: { method: 'elicitation/create', params: ask(message) } as never } })
        return said(`${label}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`)
      },
    )
  const person = {
    type: 'object',
    properties: { username: { type: 'string' }, email: { type: 'string' } },
    required: ['username', 'email'],
  }
  elicits('test_elicitation', (message) => ({ message, requestedSchema: person }), 'User response')
  elicits('test_elicitation_sep1034_defaults', () => ({ message: 'Defaults', requestedSchema: defaults }), 'Elicitation completed')
  elicits('test_elicitation_sep1330_enums', () => ({ message: 'Enums', requestedSchema: enums }), 'Elicitation completed')
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for its context.' }, async (ctx) =>
    given(ctx, 'user_context') === undefined
      ? inputRequired({ inputRequests: { user_context: elicit('What context should the prompt use?', 'context') } })
      : { messages: [{ ...user, content: text('with context') }] },
  )
}

function registerPlain(server: McpServer): void {
  for (const [name, result] of Object.entries(plainTools)) server.registerTool(name, { description: name }, async () => result)
  server.registerTool('test_tool_with_progress', { description: 'Progresses.' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      await sleep(20)
    }
    return said('done')
  })
  for (const name of ['test_tool_with_logging', 'test_logging_tool'])
    server.registerTool(name, { description: 'Logs.' }, async (ctx) => {
      for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await ctx.mcpReq.log('info', words)
        await sleep(20)
      }
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
    {
      description: 'Arguments.',
      argsSchema: z.object({ arg1: z.string().describe('First test argument'), arg2: z.string().describe('Second test argument') }),
    },
    async ({ arg1, arg2 }) => argumentsPrompt(arg1, arg2),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Resource.', argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri }) => resourcePrompt(resourceUri),
  )
  server.server.setRequestHandler('completion/complete', async () => ({
    completion: { values: ['paris', 'park', 'party'], total: 150, hasMore: false },
  }))
}

/** The reference server of the suite for the modern revision, on the official package 2.x. */
export async function startModernConformance(): Promise<Listening> {
  const handler = createMcpHandler(
    () => {
      const list = { listChanged: true }
      const server = new McpServer(
        { name: 'modern-conformance', version: '2.0.0' },
        { capabilities: { tools: list, prompts: list, resources: { subscribe: true, ...list }, logging: {}, completions: {} } },
      )
      registerPlain(server)
      registerQuestions(server)
      registerRest(server)
      for (const [name, change] of [
        ['test_trigger_tool_change', () => handler.notify.toolsChanged()],
        ['test_trigger_prompt_change', () => handler.notify.promptsChanged()],
      ] as const)
        server.registerTool(name, { description: name }, async () => {
          change()
          return said('changed')
        })
      return server
    },
    { legacy: 'reject' },
  )
  return listen((req, res) => void serveWeb(req, res, (request) => handler.fetch(request)))
}
