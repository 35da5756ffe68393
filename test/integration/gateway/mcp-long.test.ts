import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { ask, begin, post, type RawAnswer } from '../../support/mcp/raw-client.ts'
import { type AskedMessage, type ScriptedServer, startScriptedServer } from '../../support/mcp/scripted-server.ts'
import { mcpScopes, mcpServer } from '../../support/mcp/stored-server.ts'

let server: ScriptedServer
let bed: GatewayBed

const mcpResultBytes = 4 * 1024 * 1024
const eras = ['modern', 'legacy'] as const
const manyValues = `[${'{},'.repeat(1_000_000)}{}]`
const event = (text: string): string => `data: ${text}\n\n`
const note = (data: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":${JSON.stringify(data)}}}`
const resultOf = ({ id }: AskedMessage, content: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete","content":${content}}}`
const plain = '[{"type":"text","text":"done"}]'

/** The bodies of the answers to calls of tools: as JSON, or as a stream. By the last segment of the path. */
const bodies: Readonly<Record<string, { readonly isStream: boolean; readonly of: (asked: AskedMessage) => readonly string[] }>> = {
  values: { isStream: false, of: (asked) => [resultOf(asked, manyValues)] },
  'event-values': { isStream: true, of: (asked) => [event(resultOf(asked, manyValues))] },
  letters: { isStream: false, of: (asked) => [resultOf(asked, `[{"type":"text","text":"${',[{'.repeat(1_000_000)}"}]`)] },
  notes: { isStream: true, of: (asked) => [...Array(8).fill(event(note('x'.repeat(3_000_000)))), event(resultOf(asked, plain))] },
  mixed: {
    isStream: true,
    of: (asked) => [
      ['a', 'b'.repeat(600_000), 'c', 'd'.repeat(600_000), 'e'].map((data) => event(note(data))).join('') + event(resultOf(asked, plain)),
    ],
  },
  lines: { isStream: true, of: () => ['data:\n'.repeat(600_000)] },
  odd: { isStream: true, of: (asked) => [event('x'.repeat(600_000)), event(resultOf(asked, plain))] },
}

test.before(async () => {
  server = await startScriptedServer((asked, res) => {
    const body = bodies[asked.path.split('/').at(-1) ?? '']
    if (asked.method !== 'tools/call' || body === undefined) return false
    res.writeHead(200, { 'content-type': body.isStream ? 'text/event-stream' : 'application/json' })
    for (const part of body.of(asked)) res.write(part)
    res.end()
    return true
  })
  bed = await startGateway({
    keys: { [workspaceKey]: mcpScopes },
    mcpServers: Object.fromEntries(
      eras.flatMap((era) =>
        Object.keys(bodies).map((kind) => [`${era}-${kind}`, mcpServer({ slug: kind, url: `${server.origin}/${era}/${kind}` })]),
      ),
    ),
    settings: { mcpResultBytes, mcpRequestBytes: mcpResultBytes },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await server?.stop()
})

const call = { name: 'a', arguments: {} }
const json = { accept: 'application/json' }
const logging = { 'io.modelcontextprotocol/logLevel': 'info' }
const called = (slug: string, headers: Record<string, string> = {}): Promise<RawAnswer> =>
  ask(`${bed.origin}/${slug}/mcp`, 'tools/call', { ...call, _meta: logging }, { headers })

const faults: readonly (readonly [kind: string, headers: Record<string, string>, fault: RegExp | null])[] = [
  ['values', {}, /more than 1000000 values/],
  ['event-values', {}, /more than 1000000 values/],
  ['event-values', json, /more than 1000000 values/],
  ['letters', {}, null],
  ['notes', {}, /more than 16384 KiB on one stream/],
  ['notes', json, /more than 16384 KiB on one stream/],
  ['mixed', json, null],
  ['lines', {}, /more than 4096 KiB/],
]
for (const era of eras)
  for (const [kind, headers, fault] of faults)
    test.serial(`an answer has bounds beside its length: ${kind}, ${era}, ${headers['accept'] ?? 'any'}`, async (t) => {
      const last = (await called(`${era}-${kind}`, headers)).messages.at(-1)
      if (fault === null) t.is(last?.error, undefined)
      else t.regex(last?.error?.message ?? '', fault)
    })

for (const era of eras)
  test.serial(`a request has so many values: ${era}`, async (t) => {
    const url = `${bed.origin}/${era}-mixed/mcp`
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"a":${manyValues}}}}`
    const answer = await post(url, body, await begin(url))
    t.is(answer.status, 400)
    t.is(answer.messages[0]?.error?.code, -32600)
    t.regex(answer.messages[0]?.error?.message ?? '', /1000000 values/)
  })

for (const era of eras)
  test.serial(`long messages that wait for their turn keep their order: ${era}`, async (t) => {
    const { messages } = await called(`${era}-mixed`)
    t.deepEqual(
      messages.map(({ params, result }) => String(params?.['data'] ?? result?.['content'][0].text).slice(0, 4)),
      ['a', 'bbbb', 'c', 'dddd', 'e', 'done'],
    )
  })

test.serial('a long message that its client does not hear is not read', async (t) => {
  t.is((await called('modern-odd')).messages.at(-1)?.error?.data?.['code'], 'upstream_bad_response')
  t.is((await called('modern-odd', json)).messages.at(-1)?.result?.['content'][0].text, 'done')
})

test.serial('many long answers at once all come', async (t) => {
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => called(`${eras[at % 2]}-letters`)))
  for (const { messages } of answers) t.is(messages.at(-1)?.result?.['content'][0].text.length, 3_000_000)
})
