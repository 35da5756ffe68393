// Guardrails of calls of MCP: each place of a request, an answer, a question or a notification in which a text could go by the judged ones.
import type { ServerResponse } from 'node:http'
import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { eventually } from '../../support/eventually.ts'
import { ask, begin, envelope, modernHeaders, post, type RawAnswer } from '../../support/mcp/raw-client.ts'
import { answerJson, type AskedMessage, type ScriptedServer, startScriptedServer } from '../../support/mcp/scripted-server.ts'
import { mcpScopes, mcpServer } from '../../support/mcp/stored-server.ts'

let server: ScriptedServer
let bed: GatewayBed

const card = '1234567890'
const words = `card ${card}`
type Era = 'modern' | 'legacy'
const eras = ['modern', 'legacy'] as const
const actions = ['deny', 'change'] as const

/** All that came to the server, headers included. */
const heard: string[] = []
const heardCard = (): boolean => heard.some((text) => text.includes(card))

const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
const png = Buffer.from(Array.from({ length: 96 }, (_, at) => (at * 151 + 137) % 256)).toString('base64')
/** Base64, as media have it, with the number in it. */
const disguised = `TheNumberOfTheCardIs${card}AndThisIsOnlyALongWordThatEndsHere`.padEnd(68, 'Aa')
const said = (result: object) => ({ result: { resultType: 'complete', content: [{ type: 'text', text: 'ok' }], ...result } })
const content = (item: object) => said({ content: [item] })

/** The answers of tools of a server, by their names: each holds the number in another place. */
const leaks: Readonly<Record<string, object>> = {
  text: content({ type: 'text', text: words }),
  'a text of another kind': content({ type: 'else', other: { deep: [words] } }),
  'the kind of a content': content({ type: card, text: 'x' }),
  'a media type': content({ type: 'image', mimeType: `image/${card}`, data: png }),
  'short data': content({ type: 'image', mimeType: 'image/png', data: `${card}AB` }),
  'data of another kind': content({ type: 'else', mimeType: 'text/plain', data: `card-${card}` }),
  'a blob': content({ type: 'resource', resource: { uri: 'a://b', mimeType: 'text/plain', blob: `card${card}AB` } }),
  'structured, in the form of media': said({
    structuredContent: { type: 'image', mimeType: 'image/png', data: disguised, uri: 'a://b', blob: disguised },
  }),
  'metadata in the form of media': content({ type: 'text', text: 'x', _meta: { 'x/y': { uri: 'a://b', blob: disguised } } }),
  structured: said({ structuredContent: { a: words } }),
  'structured, under a name of the protocol': said({ structuredContent: { type: card, mimeType: card, data: card, role: card } }),
  'a name': said({ structuredContent: { [words]: true } }),
  'a name in a list': said({ structuredContent: { a: [{ b: { [card]: 1 } }] } }),
  'a number': said({ structuredContent: { a: Number(card) } }),
  'a list of numbers': said({ structuredContent: { a: [1, Number(card)] } }),
  meta: said({ _meta: { 'x/y': words } }),
  'a name in meta': said({ _meta: { [card]: 1 } }),
  'a flag': said({ isError: words }),
  'another member': said({ more: words }),
  'a scope': said({ cacheScope: words }),
  'a time': said({ ttlMs: Number(card) * 1000 }),
  'the message of an error': { error: { code: -32000, message: words } },
  'the data of an error': { error: { code: -32000, message: 'No.', data: { row: words } } },
  'a number in an error': { error: { code: -32000, message: 'No.', data: [Number(card)] } },
  'the code of an error': { error: { code: Number(card), message: 'No.' } },
}

/** The messages before the end of a call, by the names of tools. */
const notices: Readonly<Record<string, object>> = {
  log: { method: 'notifications/message', params: { level: 'error', data: words } },
  'progress in words': { method: 'notifications/progress', params: { progressToken: 'mine', progress: 1, message: words } },
  'progress with more': {
    method: 'notifications/progress',
    params: { progressToken: 'mine', progress: 1, more: words, _meta: { a: words } },
  },
  'another notice': { method: 'notifications/else', params: { a: words } },
}

/** Questions of a server, by the names of tools. */
const schema = (properties: object) => ({ type: 'object', properties })
const questions: Readonly<Record<string, object>> = {
  'asks in words': { message: words, requestedSchema: schema({}) },
  'asks by a name': { message: 'Who?', requestedSchema: schema({ [words]: { type: 'string' } }) },
  'asks by a default': { message: 'Who?', requestedSchema: schema({ a: { type: 'number', default: Number(card) } }) },
}

const guardrail = (id: string, parameters: Record<string, unknown>, deny: boolean) => ({ checks: [{ id, parameters }], actions: { deny } })

const streamed = (res: ServerResponse): ServerResponse => res.writeHead(200, { 'content-type': 'text/event-stream' })
const waiting = new Map<string, () => void>()

function call(asked: AskedMessage, res: ServerResponse): boolean {
  const name = String(asked.params?.['name'])
  const token = (asked.params?.['_meta'] as { progressToken?: unknown } | undefined)?.progressToken
  const notice = notices[name] as { method: string; params: object } | undefined
  const params = questions[name] ?? (name === 'asks' ? { message: 'Who?', requestedSchema: schema({}) } : undefined)
  if (leaks[name] !== undefined) answerJson(res, asked, leaks[name])
  else if (notice !== undefined) {
    const own = { ...notice.params, ...(notice.method.endsWith('progress') && { progressToken: token }) }
    streamed(res).end(event({ method: notice.method, params: own }) + event({ id: asked.id, ...said({}) }))
  } else if (params === undefined) return false
  else if (asked.path.startsWith('/legacy')) {
    const id = `q${heard.length}`
    streamed(res).write(event({ id, method: 'elicitation/create', params }))
    waiting.set(id, () => res.end(event({ id: asked.id, ...said({}) })))
  } else if (asked.params?.['inputResponses'] === undefined)
    answerJson(res, asked, { result: { resultType: 'input_required', inputRequests: { q: { method: 'elicitation/create', params } } } })
  else return false
  return true
}

test.before(async () => {
  server = await startScriptedServer((asked, res, req) => {
    heard.push(JSON.stringify([asked, req.headers]))
    if (asked.method === undefined && typeof asked.id === 'string') {
      res.writeHead(202).end()
      waiting.get(asked.id)?.()
      return true
    }
    if (asked.method === 'tools/list' && asked.path.endsWith('param')) {
      const inputSchema = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }
      answerJson(res, asked, { result: { resultType: 'complete', tools: [{ name: 'echo', inputSchema }] } })
      return true
    }
    return asked.method === 'tools/call' && call(asked, res)
  })
  const servers = eras.flatMap((era) =>
    actions.map((action) => {
      const slug = `${action}-${era}`
      const guards = { inputGuardrails: [action], outputGuardrails: [action] }
      return [slug, mcpServer({ slug, url: `${server.origin}/${era}/${action}`, ...guards })] as const
    }),
  )
  bed = await startGateway({
    keys: { [workspaceKey]: mcpScopes },
    guardrails: {
      deny: guardrail('default.regexMatch', { rule: '\\d{10}', not: true }, true),
      change: guardrail('default.regexReplace', { rule: '\\d{10}', redactText: '#' }, false),
    },
    mcpServers: {
      ...Object.fromEntries(servers),
      param: mcpServer({ slug: 'param', url: `${server.origin}/modern/param`, inputGuardrails: ['deny'] }),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await server?.stop()
})

const at = (slug: string) => `${bed.origin}/${slug}/mcp`
const capabilities = { elicitation: {} }

/** Makes one request as a client of an era. */
async function make(clientEra: Era, slug: string, { method, params, more = '' }: { method: string; params: object; more?: string }) {
  if (clientEra === 'modern') {
    const meta = { ...(params as { _meta?: object })._meta, ...envelope(capabilities), 'io.modelcontextprotocol/logLevel': 'debug' }
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }
    const text = JSON.stringify(body).replace('"exact"', more)
    return post(at(slug), text, modernHeaders(body))
  }
  const session = await begin(at(slug), {}, capabilities)
  return post(at(slug), JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }).replace('"exact"', more), session)
}

/** Returns whether a guardrail has denied an answer. */
const isDenied = ({ messages }: RawAnswer): boolean => JSON.stringify(messages.at(-1)).includes('hooks_failed')

interface InputPlace {
  readonly method?: string
  readonly params: object
  /** The digits of a number that JavaScript does not hold. */
  readonly more?: string
  /** The outcome where the text cannot be changed: names and addresses stay. */
  readonly stays?: true
}

const inputs: Readonly<Record<string, InputPlace>> = {
  text: { params: { name: 'echo', arguments: { a: words } } },
  'a number': { params: { name: 'echo', arguments: { a: Number(card) } } },
  'more digits': { params: { name: 'echo', arguments: { a: 'exact' } }, more: `0.1000000000000000${card}` },
  'arguments in the form of an image': { params: { name: 'echo', arguments: { type: 'image', mimeType: 'image/png', data: disguised } } },
  'arguments in the form of a blob': { params: { name: 'echo', arguments: { content: [{ uri: 'a://b', blob: disguised }] } } },
  'a list of numbers': { params: { name: 'echo', arguments: { a: [Number(card), 2] } } },
  'a name': { params: { name: 'echo', arguments: { [words]: true } } },
  'a name within': { params: { name: 'echo', arguments: { a: [{ [card]: { [card]: words } }] } } },
  meta: { params: { name: 'echo', arguments: {}, _meta: { 'x/y': { z: words } } } },
  'a name in meta': { params: { name: 'echo', arguments: {}, _meta: { [card]: 1 } } },
  'another member': { params: { name: 'echo', arguments: {}, more: words } },
  'answers that nobody asked for': {
    params: { name: 'echo', arguments: {}, inputResponses: { a: { action: words, name: words, uri: words } } },
  },
  'an argument of a prompt': { method: 'prompts/get', params: { name: 'p', arguments: { a: words } } },
  'an argument of a completion': {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: words } },
  },
  'more of a ref': { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: card }, argument: {} }, stays: true },
  'the name of a tool': { params: { name: `x${card}`, arguments: {} }, stays: true },
  'an address': { method: 'resources/read', params: { uri: `a://${card}` }, stays: true },
  'the page of a list': { method: 'tools/list', params: { cursor: card }, stays: true },
  'more of a list': { method: 'prompts/list', params: { filter: words } },
}

for (const era of eras)
  for (const clientEra of eras)
    for (const action of actions)
      test.serial(`the arguments of a ${clientEra} client for a ${era} server, ${action}: no place is passed by`, async (t) => {
        for (const [place, { method = 'tools/call', params, more = '', stays }] of Object.entries(inputs)) {
          heard.length = 0
          const answer = await make(clientEra, `${action}-${era}`, { method, params, more })
          const isKept = clientEra === 'legacy' && place === 'answers that nobody asked for'
          t.is(isDenied(answer), action === 'deny' && !isKept, `${place}: ${answer.text}`)
          if (action === 'deny' || !stays) t.false(heardCard(), place)
          if (action === 'change')
            t.true(
              heard.some((text) => text.includes(method)),
              place,
            )
        }
      })

for (const era of eras)
  for (const clientEra of eras)
    for (const action of actions)
      test.serial(`the answers of a ${era} server for a ${clientEra} client, ${action}: no place is passed by`, async (t) => {
        const slug = `${action}-${era}`
        for (const name of Object.keys(leaks)) {
          const answer = await make(clientEra, slug, { method: 'tools/call', params: { name, arguments: {} } })
          t.false(answer.text.includes(card), `${name}: ${answer.text}`)
          const isDropped = name === 'the code of an error' || (era === 'modern' && name === 'a scope') || name === 'a time'
          if (!isDropped) t.is(isDenied(answer), action === 'deny', `${name}: ${answer.text}`)
        }
        for (const name of Object.keys(notices)) {
          const params = { name, arguments: {}, _meta: { progressToken: 'mine' } }
          const answer = await make(clientEra, slug, { method: 'tools/call', params })
          t.false(answer.text.includes(card), `${name}: ${answer.text}`)
          t.is(answer.messages.at(-1)?.result?.['content'][0].text, 'ok', name)
          const progress = answer.messages.filter((message) => message.method === 'notifications/progress')
          t.deepEqual(
            progress.map((message) => message.params),
            name.startsWith('progress') ? [{ progressToken: 'mine', progress: 1 }] : [],
            name,
          )
        }
      })

test.serial('media stays as it is', async (t) => {
  for (const era of eras) {
    const name = 'a media type'
    const answer = await make('modern', `change-${era}`, { method: 'tools/call', params: { name, arguments: {} } })
    t.true(answer.text.includes(png))
  }
})

test.serial('facts about a client, tokens for progress, states and headers bring no text to a server', async (t) => {
  for (const era of eras) {
    heard.length = 0
    const slug = `deny-${era}`
    const params = {
      name: 'echo',
      arguments: {},
      _meta: {
        progressToken: words,
        ...envelope({ [words]: {}, elicitation: { form: { a: words } } }),
        'io.modelcontextprotocol/clientInfo': { name: words, version: words },
      },
    }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const modern = await post(at(slug), body, { ...modernHeaders(body), 'mcp-param-a': words })
    t.is(modern.messages.at(-1)?.result?.['content'][0].text, 'ran', modern.text)
    const session = await begin(at(slug), {}, { experimental: { [words]: {} } })
    const state = { name: 'echo', arguments: {}, requestState: words, inputResponses: { a: words } }
    const legacy = await post(at(slug), { ...body, params: state }, { ...session, 'mcp-param-a': words })
    t.is(legacy.messages.at(-1)?.result?.['content'][0].text, 'ran', legacy.text)
    t.false(
      heardCard(),
      heard.find((text) => text.includes(card)),
    )
  }
})

test.serial('a header that repeats an argument is written from the argument', async (t) => {
  await ask(at('param'), 'tools/list')
  for (const [header, status] of [
    [undefined, 200],
    ['red', 200],
    ['blue', 400],
  ] as const) {
    heard.length = 0
    const headers = header === undefined ? {} : { 'mcp-param-a': header }
    const answer = await ask(at('param'), 'tools/call', { name: 'echo', arguments: { a: 'red' } }, { headers })
    t.is(answer.status, status, answer.text)
    t.is(
      heard.some((text) => text.includes('"mcp-param-a":"red"')),
      status === 200,
    )
  }
})

for (const era of eras)
  for (const action of actions)
    test.serial(`questions of a ${era} server and their answers, ${action}: no place is passed by, in both eras of clients`, async (t) => {
      const slug = `${action}-${era}`
      for (const name of Object.keys(questions)) {
        const modern = await make('modern', slug, { method: 'tools/call', params: { name, arguments: {} } })
        t.false(modern.text.includes(card), modern.text)
        const gone = new AbortController()
        const session = await begin(at(slug), {}, capabilities)
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session }
        const authorization = `Bearer ${workspaceKey}`
        const sent = { method: 'POST', headers: { ...headers, authorization }, body: JSON.stringify(body), signal: gone.signal }
        const first = await (await fetch(at(slug), sent)).body?.getReader().read()
        const text = Buffer.from(first?.value ?? []).toString()
        t.regex(text, action === 'deny' ? /hooks_failed|ok/ : /elicitation\/create/)
        t.false(text.includes(card), text)
        gone.abort()
      }
      for (const given of [
        { action: 'accept', content: { a: words } },
        { action: 'accept', content: { [words]: Number(card) } },
        { action: words, name: words, _meta: { a: words } },
        { action: 'accept', content: { type: 'image', mimeType: 'image/png', data: disguised } },
      ]) {
        heard.length = 0
        const params = { name: 'asks', arguments: {} }
        const asked = (await make('modern', slug, { method: 'tools/call', params })).messages.at(-1)?.result
        const inputResponses = Object.fromEntries(Object.keys(asked?.['inputRequests']).map((one) => [one, given]))
        const { requestState } = asked ?? {}
        const next = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }
        await make('modern', slug, { method: 'tools/call', params: next })
        t.false(heardCard(), JSON.stringify(given))
      }
    })

test.serial('a legacy client that refuses a question brings no words to its server, either', async (t) => {
  for (const action of actions) {
    heard.length = 0
    const slug = `${action}-legacy`
    const session = await begin(at(slug), {}, capabilities)
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${workspaceKey}`, ...session }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'asks', arguments: {} } }
    const called = await fetch(at(slug), { method: 'POST', headers, body: JSON.stringify(body) })
    const reader = called.body?.getReader()
    const text = Buffer.from((await reader?.read())?.value ?? []).toString()
    const id: unknown = JSON.parse(/data: (.*)/.exec(text)?.[1] ?? '{}').id
    await post(at(slug), { jsonrpc: '2.0', id, error: { code: Number(card), message: words, data: { [words]: words } } }, session)
    await eventually(() => heard.some((one) => one.includes('"error"')), 5000, 'the answer at the server')
    while ((await reader?.read())?.done === false);
    t.false(heardCard(), slug)
  }
})

test.serial('a resource to hear of is looked at, in both eras of clients', async (t) => {
  for (const era of eras) {
    heard.length = 0
    const uri = `a://${card}`
    const legacy = await make('legacy', `deny-${era}`, { method: 'resources/subscribe', params: { uri } })
    t.true(isDenied(legacy), legacy.text)
    const listening = { notifications: { resourceSubscriptions: [uri] } }
    const modern = await make('modern', `deny-${era}`, { method: 'subscriptions/listen', params: listening })
    t.true(isDenied(modern), modern.text)
    t.false(heardCard())
  }
})
