import test from 'ava'
import type { CapabilityRule } from '../../../src/gateway/mcp/registry.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { ask, begin, post, type RawMessage } from '../../support/mcp/raw-client.ts'
import { type ScriptedServer, startScriptedServer } from '../../support/mcp/scripted-server.ts'
import { mcpScopes, mcpServer, toolRule } from '../../support/mcp/stored-server.ts'

let server: ScriptedServer
let bed: GatewayBed

const eras = ['modern', 'legacy'] as const
const ruleOf = (kind: CapabilityRule['kind'], name: string, enabled: boolean) => ({ ...toolRule(name, { enabled }), kind })

/** The servers: of one all but a few things may be used, of the other nothing but a few things. */
const rules = {
  open: [
    ruleOf('tool', 'Evil', false),
    ruleOf('prompt', 'evil', false),
    ruleOf('resource', 'http://internal.example/secret', false),
    ruleOf('resource', 'http://someone@unusual.example:80/secret?token=1', false),
    ruleOf('resource', 'http://bücher.example/x', false),
    ruleOf('resource_template', 'file:///{+path}', false),
    ruleOf('resource_template', `long:///{+path}`, true),
  ],
  shut: [
    ruleOf('tool', 'good', true),
    ruleOf('prompt', 'good', true),
    ruleOf('resource', 'file:///a/../listed', true),
    ruleOf('resource_template', 'file:///public/{+path}', true),
    ruleOf('resource_template', 'https://{tenant}.example.com/{+path}', true),
  ],
} as const

test.before(async () => {
  server = await startScriptedServer(() => false)
  bed = await startGateway({
    keys: { [workspaceKey]: mcpScopes },
    mcpServers: Object.fromEntries(
      eras.flatMap((era) =>
        (['open', 'shut'] as const).map((access) => {
          const slug = `${access}-${era}`
          const given = { defaultAccess: access === 'open' ? 'allow' : 'deny', capabilities: rules[access] } as const
          return [slug, mcpServer({ slug, url: `${server.origin}/${era}/${slug}` }, given)]
        }),
      ),
    ),
  })
})
test.after.always(async () => {
  await bed?.stop()
  await server?.stop()
})

type Call = readonly [method: string, params: Record<string, unknown>]

/** Makes a call as a client of each era, and gives the answers. */
async function called(slug: string, [method, params]: Call): Promise<readonly (RawMessage | undefined)[]> {
  const url = `${bed.origin}/${slug}/mcp`
  const session = await begin(url)
  const name = params['name'] ?? params['uri']
  const headers = typeof name === 'string' ? { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` } : {}
  const modern = await ask(url, method, params, { headers })
  const legacy = await post(url, { jsonrpc: '2.0', id: 1, method, params }, session)
  const alone = await post(url, { jsonrpc: '2.0', id: 1, method, params })
  return [modern, legacy, alone].map(({ messages }) => messages.at(-1))
}

const noTexts: readonly unknown[] = [['evil'], { evil: 1 }, { toString: 'evil' }, null, undefined, 1, true, '']
const completing = (ref: unknown): Call => ['completion/complete', { ref, argument: { name: 'a', value: 'b' } }]
const unnamed: readonly (readonly [field: string, call: Call])[] = [
  ...noTexts.map((name) => ['name', ['tools/call', { name, arguments: {} }]] as const),
  ...noTexts.map((name) => ['name', ['prompts/get', { name }]] as const),
  ...noTexts.map((uri) => ['uri', ['resources/read', { uri }]] as const),
  ...noTexts.map((name) => ['ref', completing({ type: 'ref/prompt', name })] as const),
  ...noTexts.map((uri) => ['ref', completing({ type: 'ref/resource', uri })] as const),
  ...[['ref/prompt'], null, undefined, 'ref/prompt', {}].map((ref) => ['ref', completing(ref)] as const),
  ...[['ref/prompt'], 'ref/tool', 'toString', null].map((type) => ['ref', completing({ type, name: 'evil' })] as const),
]

for (const era of eras)
  test.serial(`a request that names its thing in no text is refused, and never reaches the server: ${era}`, async (t) => {
    for (const [field, call] of unnamed)
      for (const access of ['open', 'shut']) {
        const before = server.heard.length
        for (const answer of await called(`${access}-${era}`, call)) {
          t.is(answer?.error?.code, -32602, JSON.stringify(call))
          t.is(answer?.error?.data?.['param'], field, JSON.stringify(call))
          t.regex(answer?.error?.message ?? '', new RegExp(`^params\\.${field}`))
        }
        t.is(server.heard.length, before, JSON.stringify(call))
      }
  })

const long = './'.repeat(4100)
const spelled: Readonly<Record<string, readonly Call[]>> = {
  open: [
    ...['Evil', 'evil', ' Evil', 'Evil\t', 'Ｅvil', 'E\u0000vil', 'Evil\u200b', 'E\u00advil', 'Evil\0x', `Evil${' '.repeat(9000)}`].map(
      (name): Call => ['tools/call', { name }],
    ),
    ...['evil', 'EVIL', 'evil '].map((name): Call => ['prompts/get', { name }]),
    ...['EVIL', 'evil '].map((name) => completing({ type: 'ref/prompt', name })),
    ...[
      'file:///etc/passwd',
      'FILE:///etc/passwd',
      'file:/etc/passwd',
      'file://localhost/etc/passwd',
      'file:\\\\\\etc\\passwd',
      'fi\tle:///etc/passwd',
      ' file:///etc/passwd',
      'file%3A///etc/passwd',
      'file:///etc/./passwd',
      `file:///etc/${long}passwd`,
      `long:///${'x'.repeat(9000)}`,
      'http://internal.example/secret?x=1',
      'http://internal.example/secret#x',
      'http://internal.example/secret/',
      'http://internal.example:80/secret',
      'http://someone@internal.example/secret',
      'HTTP://INTERNAL.EXAMPLE/secret',
      'http://internal.example//secret',
      'http://internal.example/s%65cret',
      'http://internal.example/s%2565cret',
      'http://internal.example/s%2525252565cret',
      'http://internal.example/%c0%ae%c0%ae/secret',
      'http://internal.example./secret',
      'https://internal.example/secret',
      'http://internal.example/secret%00.png',
      'http://internal.example/secret;x',
      'http://internal.example/sec\u200bret',
      'http://unusual.example/secret?token=1#x',
      'http://unusual.example/secret?token=1&',
      'http://unusual.example/secret?x=2&token=1',
      'http://xn--bcher-kva.example/x',
      'http://internal.example/a/../secret',
      'http://internal.example/a/..;/secret',
    ].flatMap((uri): readonly Call[] => [
      ['resources/read', { uri }],
      ['resources/subscribe', { uri }],
      ['completion/complete', { ref: { type: 'ref/resource', uri }, argument: {} }],
    ]),
    completing({ type: 'ref/resource', uri: 'file:///{+path}' }),
    completing({ type: 'ref/resource', uri: 'FILE:///{+path}' }),
    completing({ type: 'ref/resource', uri: 'file:///{path}' }),
  ],
  shut: [
    ...['Good', 'good ', 'evil'].map((name): Call => ['tools/call', { name }]),
    ...['Good', 'evil'].map((name): Call => ['prompts/get', { name }]),
    ...[
      'file:///public/../secret',
      'file:///public/./secret',
      'file:///public/a/..',
      'file:///public/%2e%2e/secret',
      'file:///public/%252e%252e/secret',
      'file:///public/..%2fsecret',
      'file:///public/..\\secret',
      'FILE:///public/a',
      'file:///listed',
      'https://evil.example#.example.com/a',
      'https://evil.example?.example.com/a',
      'https://evil.example\\.example.com/a',
    ].map((uri): Call => ['resources/read', { uri }]),
    completing({ type: 'ref/resource', uri: 'file:///public/a' }),
  ],
}

for (const era of eras)
  for (const [access, calls] of Object.entries(spelled))
    test.serial(`a thing that may not be used is refused in every spelling: ${access}, ${era}`, async (t) => {
      for (const call of calls) {
        const before = server.heard.length
        for (const [at, answer] of (await called(`${access}-${era}`, call)).entries()) {
          // Modern clients subscribe by another method.
          if (call[0] === 'resources/subscribe' && at === 0) t.is(answer?.error?.code, -32601)
          else t.regex(String(answer?.error?.data?.['reason']), /^(?:tool|prompt|resource)_not_allowed$/, JSON.stringify(call))
        }
        t.is(server.heard.length, before, JSON.stringify(call).slice(0, 200))
      }
    })

const usable: Readonly<Record<string, readonly Call[]>> = {
  open: [
    ['tools/call', { name: 'evil-not' }],
    ['prompts/get', { name: 'good' }],
    ['resources/read', { uri: 'test://static/a b/ä?x=1#y' }],
    ['resources/read', { uri: 'http://internal.example/secret/of/others' }],
    ['resources/read', { uri: 'http://unusual.example/secret?token=2' }],
    ['resources/read', { uri: 'long:///a' }],
    completing({ type: 'ref/prompt', name: 'good' }),
    completing({ type: 'ref/resource', uri: 'test://{id}/data' }),
  ],
  shut: [
    ['tools/call', { name: 'good' }],
    ['prompts/get', { name: 'good' }],
    ['resources/read', { uri: 'file:///public/a/.b/c..d' }],
    ['resources/read', { uri: 'file:///public/a%2Fb' }],
    ['resources/read', { uri: 'file:///a/../listed' }],
    ['resources/read', { uri: 'https://one.example.com/a?b' }],
    completing({ type: 'ref/resource', uri: 'file:///public/{+path}' }),
  ],
}

for (const era of eras)
  for (const [access, calls] of Object.entries(usable))
    test.serial(`a thing that may be used is reached: ${access}, ${era}`, async (t) => {
      for (const call of calls)
        for (const answer of await called(`${access}-${era}`, call))
          t.is(answer?.result?.['content'][0].text, 'ran', JSON.stringify([call, answer]))
    })
