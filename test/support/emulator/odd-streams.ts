/**
 * Streams that real providers send and that break readers. Each is a list of writes, so that a frame or a character can be
 * split between two of them.
 */
const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
const data = (text: string): string => `data: ${text}\n\n`
const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const usageOnly = JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })
const role = data(chunk({ role: 'assistant', content: '' }))
const hello = data(chunk({ content: 'Hello' }))
const stop = data(chunk({}, 'stop'))
const done = data('[DONE]')
const whole = [role, hello, stop, data(usageOnly), done]

/** Cuts a text's bytes into writes of `size` bytes: every frame and every multi-byte character is split somewhere. */
const cut = (text: string, size: number): readonly Buffer[] => {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
}

const splitInside = (text: string, character: string): readonly Buffer[] => {
  const bytes = Buffer.from(text)
  const at = bytes.indexOf(Buffer.from(character)) + 1
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

const texts = {
  'empty-frames': [role, '\n\n', 'data:\n\n', hello, 'data: \n\n', '\n', stop, data(usageOnly), done],
  'comments-and-pings': [
    ': keep-alive\n\n',
    role,
    ': OPENROUTER PROCESSING\n\n',
    hello,
    'event: ping\ndata: {"type":"ping"}\n\n',
    stop,
    data(usageOnly),
    done,
  ],
  'usage-only-final': whole,
  'usage-null': [
    role,
    data(chunk({ content: 'Hello' }, null, { usage: null })),
    data(chunk({}, 'stop', { usage: null })),
    data(usageOnly),
    done,
  ],
  'usage-in-every-chunk': [
    role,
    data(chunk({ content: 'Hello' }, null, { usage: { ...usage, completion_tokens: 3, total_tokens: 14 } })),
    data(chunk({}, 'stop', { usage })),
    done,
  ],
  'double-finish': [role, hello, stop, data(chunk({ content: '' }, 'stop', { usage })), done],
  'role-only': [role, stop, done],
  'no-usage': [role, hello, stop, done],
  'no-done': [role, hello, stop, data(usageOnly)],
  'null-details': [
    role,
    data(chunk({ content: null, function_call: null, tool_calls: null })),
    stop,
    data(JSON.stringify({ choices: [], usage: { ...usage, prompt_tokens_details: null, completion_tokens_details: null } })),
    done,
  ],
  crlf: whole.map((text) => text.replaceAll('\n', '\r\n')),
  'cr-only': whole.map((text) => text.replaceAll('\n', '\r')),
  'no-space': whole.map((text) => text.replace('data: ', 'data:')),
  'multi-line-data': [
    role,
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",\ndata: "choices":[],\ndata: "usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}\n\n',
    done,
  ],
  'id-and-retry': ['id: 1\nretry: 1000\n' + role, 'id: 2\n' + hello, stop, data(usageOnly), done],
  'no-final-blank-line': [role, hello, stop, data(usageOnly), 'data: [DONE]'],
  'one-write': [whole.join('')],
  bom: ['\uFEFF' + role, hello, stop, data(usageOnly), done],
  'error-in-band': [role, hello, data(JSON.stringify({ error: { message: 'The server had an error', type: 'server_error', code: null } }))],
  'not-json': [role, 'data: {not json\n\n', hello, stop, data(usageOnly), done],
  'content-looks-like-usage': [
    role,
    data(chunk({ content: '"usage":{"prompt_tokens":999,"completion_tokens":999,"total_tokens":1998}' })),
    stop,
    data(usageOnly),
    done,
  ],
} as const satisfies Record<string, readonly string[]>

const bytes = {
  'split-in-character': splitInside([role, data(chunk({ content: 'né 漢字 🙂' })), stop, data(usageOnly), done].join(''), '漢'),
  'split-in-frame': cut(whole.join(''), 7),
  'byte-by-byte': cut([role, data(chunk({ content: 'é🙂' })), stop, data(usageOnly), done].join(''), 1),
  'split-in-crlf': cut(whole.join('').replaceAll('\n', '\r\n'), 1),
  'megabyte-frame': [
    Buffer.from(role),
    Buffer.from(data(chunk({ content: 'x'.repeat(1024 * 1024) }))),
    Buffer.from(stop),
    Buffer.from(data(usageOnly)),
    Buffer.from(done),
  ],
  'megabyte-usage-frame': [
    Buffer.from(role),
    Buffer.from(data(JSON.stringify({ choices: [], padding: 'x'.repeat(1024 * 1024), usage }))),
    Buffer.from(done),
  ],
  'invalid-utf8-frame': [
    Buffer.from(role),
    Buffer.concat([
      Buffer.from('data: {"choices":[{"delta":{"content":"'),
      Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
      Buffer.from('"}}]}\n\n'),
    ]),
    Buffer.from(data(usageOnly)),
    Buffer.from(done),
  ],
} as const satisfies Record<string, readonly Buffer[]>

export type OddStream = keyof typeof texts | keyof typeof bytes

const encode = <Name extends string>(streams: Readonly<Record<Name, readonly string[]>>): Readonly<Record<Name, readonly Buffer[]>> =>
  Object.fromEntries(
    Object.entries<readonly string[]>(streams).map(([name, writes]) => [name, writes.map((text) => Buffer.from(text))]),
  ) as unknown as Record<Name, readonly Buffer[]>

/** Every odd stream by name, as the writes that make it. */
export const oddStreams: Readonly<Record<OddStream, readonly Buffer[]>> = { ...encode(texts), ...bytes }

/** The streams that carry no usage: a reader must say so, and not guess. */
export const streamsWithoutUsage: ReadonlySet<OddStream> = new Set<OddStream>(['role-only', 'no-usage', 'error-in-band'])
