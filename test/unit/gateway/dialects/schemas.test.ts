// Schemas of tools and answers, by the rules that each vendor's documents have for them.
import test from 'ava'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'
import { ApiError } from '../../../../src/lib/errors.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

const claude = {
  anthropic: 'claude-sonnet-4-5',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
} as const
const hosts = ['anthropic', 'bedrock'] as const
const messages = [{ role: 'user', content: 'hi' }]
const ask = (to: DialectId, model: string, body: Body, strict = false) =>
  translator('openai-chat', to, { model, messages })(body, { strict })
const formatted = (schema: Body) => ({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } })
const tool = (parameters: unknown, more: Body = {}) => ({
  type: 'function',
  function: { name: 'f', ...(parameters !== undefined && { parameters }), ...more },
})

/** Returns the schema to which an answer is held; null: there is none. */
function heldFormat(host: (typeof hosts)[number], schema: Body) {
  const { body, dropped, memory } = ask(host, claude[host], formatted(schema))
  const config = body['output_config'] as { format: { schema: Body } } | undefined
  const converse = body['outputConfig'] as { textFormat: { structure: { jsonSchema: { schema: string } } } } | undefined
  const found =
    host === 'anthropic'
      ? config?.format.schema
      : converse === undefined
        ? undefined
        : JSON.parse(converse.textFormat.structure.jsonSchema.schema)
  return { schema: (found ?? null) as Body | null, dropped, isEmulated: memory.schemaTool !== null }
}

/** Returns the parameters of a tool that asks to be strict, and whether it is. */
function strictTool(host: (typeof hosts)[number], schema: Body) {
  const { body, dropped } = ask(host, claude[host], { tools: [tool(schema, { strict: true })] })
  const [own] = (body['tools'] ?? []) as { input_schema: Body; strict?: boolean }[]
  const [converse] = ((body['toolConfig'] as Body | undefined)?.['tools'] ?? []) as {
    toolSpec: { inputSchema: { json: Body }; strict?: boolean }
  }[]
  return host === 'anthropic'
    ? { schema: own?.input_schema, strict: own?.strict === true, dropped }
    : { schema: converse?.toolSpec.inputSchema.json, strict: converse?.toolSpec.strict === true, dropped }
}

const closed = { additionalProperties: false }
const of = (properties: Body, rest: Body = {}) => ({ type: 'object', properties, ...rest })
const held: readonly (readonly [name: string, schema: Body, written: Body, told: readonly string[]])[] = [
  ['an object that says nothing of more fields', of({ a: { type: 'string' } }), of({ a: { type: 'string' } }, closed), []],
  [
    'objects in objects, lists, choices and definitions',
    of(
      { a: of({}), b: { type: 'array', items: of({}) }, c: { anyOf: [of({}), { type: 'null' }] }, d: { $ref: '#/$defs/d' } },
      { $defs: { d: of({}) } },
    ),
    of(
      {
        a: of({}, closed),
        b: { type: 'array', items: of({}, closed) },
        c: { anyOf: [of({}, closed), { type: 'null' }] },
        d: { $ref: '#/$defs/d' },
      },
      { $defs: { d: of({}, closed) }, ...closed },
    ),
    [],
  ],
  ['more fields that are allowed beside those of it', of({ a: {} }, { additionalProperties: true }), of({ a: {} }, closed), []],
  [
    'bounds of numbers',
    of({ lat: { type: 'number', description: 'Latitude.', minimum: -90, maximum: 90, multipleOf: 0.5 } }),
    of({ lat: { type: 'number', description: 'Latitude. {minimum: -90, maximum: 90, multipleOf: 0.5}' } }, closed),
    ['.properties.lat.minimum', '.properties.lat.maximum', '.properties.lat.multipleOf'],
  ],
  [
    'bounds of texts, lists and objects',
    of({
      a: { type: 'string', minLength: 1, maxLength: 9 },
      b: { type: 'array', items: {}, minItems: 2, maxItems: 3, uniqueItems: true },
      c: of({}, { minProperties: 1 }),
    }),
    of(
      {
        a: { type: 'string', description: '{minLength: 1, maxLength: 9}' },
        b: { type: 'array', items: {}, description: '{minItems: 2, maxItems: 3, uniqueItems: true}' },
        c: of({}, { ...closed, description: '{minProperties: 1}' }),
      },
      closed,
    ),
    ['.properties.a.minLength', '.properties.b.minItems', '.properties.c.minProperties'],
  ],
  [
    'what Claude knows stays: patterns, formats, constants, defaults, and lists that are not empty',
    of({
      a: { type: 'string', pattern: '^[a-z]+$', format: 'date' },
      b: { const: 1, default: null },
      c: { type: 'array', items: {}, minItems: 1 },
    }),
    of(
      {
        a: { type: 'string', pattern: '^[a-z]+$', format: 'date' },
        b: { const: 1, default: null },
        c: { type: 'array', items: {}, minItems: 1 },
      },
      closed,
    ),
    [],
  ],
  [
    'patterns that look around, and formats that it does not know',
    of({ a: { type: 'string', pattern: '^(?!x)' }, b: { type: 'string', format: 'iban' } }),
    of({ a: { type: 'string', description: '{pattern: "^(?!x)"}' }, b: { type: 'string', description: '{format: "iban"}' } }, closed),
    ['.properties.a.pattern', '.properties.b.format'],
  ],
  [
    'one of several is any of them, and words that say nothing fall away',
    of({ a: { oneOf: [{ type: 'string' }, { type: 'number' }] } }, { $schema: 'x', $id: 'y', 'x-order': 1 }),
    of({ a: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, closed),
    [],
  ],
]
for (const host of hosts)
  for (const [name, schema, written, told] of held) {
    test(`an answer of Claude's is held to a schema: ${name} at ${host}`, (t) => {
      const found = heldFormat(host, schema)
      t.deepEqual(found.schema, written)
      for (const place of told) t.true(found.dropped.includes(`response_format.json_schema.schema${place}`), String(found.dropped))
      t.is(
        found.dropped.some((one) => one.startsWith('response_format')),
        told.length > 0,
      )
    })
    test(`a strict tool of Claude's is held to its parameters: ${name} at ${host}`, (t) => {
      const found = strictTool(host, schema)
      t.like(found, { schema: written, strict: true })
      for (const place of told) t.true(found.dropped.includes(`tools[0].parameters${place}`), String(found.dropped))
    })
  }

const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
const unsayable: readonly (readonly [name: string, schema: Body])[] = [
  ['fields of any name', of({ a: { type: 'object', additionalProperties: { type: 'string' } } })],
  ['an object of which nothing is said', of({ a: { type: 'object' } })],
  ['a schema that refers to itself', of({ a: { $ref: '#/$defs/node' } }, { $defs: { node } })],
  ['a schema that refers to its top', of({ a: { $ref: '#' } })],
  ['a schema that refers to another document', of({ a: { $ref: 'https://a.example/b.json' } })],
  ['a condition', of({ a: { not: { type: 'string' } } })],
  ['a list of several schemas', of({ a: { type: 'array', prefixItems: [{}], items: {} } })],
  ['values that are no plain ones', of({ a: { enum: [{ b: 1 }] } })],
]
for (const host of hosts)
  for (const [name, schema] of unsayable)
    test(`a schema that cannot be said to Claude is asked for by a tool, and a strict tool is none: ${name} at ${host}`, (t) => {
      t.like(heldFormat(host, schema), { schema: null, isEmulated: true })
      const found = strictTool(host, schema)
      t.false(found.strict)
      t.deepEqual(found.schema, schema)
      t.true(
        found.dropped.some((place) => /^tools\[0\].*strict$/.test(place)),
        String(found.dropped),
      )
    })

test('older models of Claude and tools that are not strict get their schemas as they are', (t) => {
  const schema = of({ a: { type: 'number', minimum: 1 } })
  const { body } = ask('anthropic', 'claude-sonnet-4-5', { tools: [tool(schema)] })
  t.like(body, { tools: { 0: { input_schema: schema } } })
  t.like(ask('anthropic', 'claude-3-5-sonnet-20241022', formatted(schema)).memory.schemaTool, { name: 'final_answer' })
})

const models: Readonly<Partial<Record<DialectId, string>>> = {
  'openai-responses': 'gpt-5-pro',
  anthropic: claude.anthropic,
  bedrock: claude.bedrock,
  cohere: 'command-a-03-2025',
  ollama: 'llama3.2',
}
function parametersOf(to: DialectId, parameters: unknown): unknown {
  const { body } = ask(to, models[to] ?? 'm', { tools: [tool(parameters)] })
  const [first] = (body['tools'] ?? (body['toolConfig'] as Body | undefined)?.['tools'] ?? []) as Body[]
  const spec = first?.['toolSpec'] as { inputSchema: { json: unknown } } | undefined
  return (
    spec?.inputSchema.json ?? first?.['input_schema'] ?? first?.['parameters'] ?? (first?.['function'] as Body | undefined)?.['parameters']
  )
}
const a = { type: 'string' }
const roots: readonly (readonly [name: string, parameters: unknown, written: Body])[] = [
  ['a list of several schemas', of({ a: { type: 'array', prefixItems: [a] } }), of({ a: { type: 'array', prefixItems: [a], items: {} } })],
  ['a list or a text', of({ a: { type: ['string', 'array'] } }), of({ a: { type: ['string', 'array'], items: {} } })],
  ['none', undefined, of({})],
  ['an object that tells no fields', { type: 'object' }, of({})],
  ['an empty schema', {}, of({})],
  ['fields without a type', { properties: { a } }, of({ a })],
  ['a list that does not say what it holds', of({ a: { type: 'array' } }), of({ a: { type: 'array', items: {} } })],
  [
    'such a list in a list',
    of({ a: { type: 'array', items: { type: 'array' } } }),
    of({ a: { type: 'array', items: { type: 'array', items: {} } } }),
  ],
  [
    'a choice of objects at the top',
    { anyOf: [of({ a, b: a }, { required: ['a', 'b'] }), of({ a, c: a }, { required: ['a'] })] },
    of({ a, b: a, c: a }, { required: ['a'] }),
  ],
  [
    'all of several objects at the top',
    { allOf: [of({ a }, { required: ['a'] }), of({ b: a }, { required: ['b'] })] },
    of({ a, b: a }, { required: ['a', 'b'] }),
  ],
  ['a reference at the top', { $ref: '#/$defs/x', $defs: { x: of({ a }) } }, of({ a }, { $defs: { x: of({ a }) } })],
  [
    'an object that is whole',
    of({ a }, { required: ['a'], additionalProperties: false }),
    of({ a }, { required: ['a'], additionalProperties: false }),
  ],
  [
    'a field whose name is a word',
    of({ items: { type: 'array', items: a }, default: a }),
    of({ items: { type: 'array', items: a }, default: a }),
  ],
]
for (const to of Object.keys(models) as DialectId[])
  for (const [name, parameters, written] of roots)
    test(`parameters of a tool are an object that tells its fields at ${to}: ${name}`, (t) => {
      t.deepEqual(parametersOf(to, parameters), written)
    })
test('a tool of Anthropic’s client without fields has an empty list of them in a chat', (t) => {
  const { body } = translator('anthropic', 'openai-chat', { model: 'gpt-4o', max_tokens: 5, messages })({
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
  })
  t.like(body, { tools: { 0: { function: { parameters: of({}) } } } })
})

/** Returns a field of the parameters as models before Gemini 2.5 get it. */
function subsetOf(schema: Body): unknown {
  const { body } = ask('google', 'gemini-2.0-flash', { tools: [tool(of({ a: schema }))] })
  const [
    {
      functionDeclarations: [declared],
    },
  ] = body['tools'] as [{ functionDeclarations: [{ parameters: { properties: { a: Body } } }] }]
  return declared.parameters.properties.a
}
const STRING = { type: 'STRING' }
const rules: readonly (readonly [name: string, schema: Body, written: Body])[] = [
  ['every schema has a type', { description: 'x' }, { ...STRING, description: 'x' }],
  ['the type that its words are of', { properties: { b: a } }, { type: 'OBJECT', properties: { b: STRING } }],
  ['a list says what it holds', { type: 'array' }, { type: 'ARRAY', items: STRING }],
  ['what a list holds has a type', { type: 'array', items: {} }, { type: 'ARRAY', items: STRING }],
  [
    'a choice stands alone, and what stands beside it in each of its schemas',
    { description: 'x', anyOf: [{ type: 'string' }, { type: 'number', description: 'n' }, { type: 'null' }] },
    {
      anyOf: [
        { ...STRING, description: 'x', nullable: true },
        { type: 'NUMBER', description: 'n', nullable: true },
      ],
    },
  ],
  [
    'fields beside a choice are fields of each of its objects',
    { type: 'object', properties: { b: a }, required: ['b'], anyOf: [{ properties: { c: a }, required: ['c'] }, { properties: { d: a } }] },
    {
      anyOf: [
        { type: 'OBJECT', properties: { b: STRING, c: STRING }, required: ['b', 'c'] },
        { type: 'OBJECT', properties: { b: STRING, d: STRING }, required: ['b'] },
      ],
    },
  ],
  [
    'several types are a choice of them, each with its own words',
    { type: ['string', 'integer'], minLength: 1, minimum: 2 },
    {
      anyOf: [
        { ...STRING, minLength: 1 },
        { type: 'INTEGER', minimum: 2 },
      ],
    },
  ],
  ['words of other types fall away', { type: 'integer', minLength: 1, maximum: 3 }, { type: 'INTEGER', maximum: 3 }],
  ['formats are those of the type', { type: 'string', format: 'int32' }, STRING],
  [
    'only fields that are there are required',
    { type: 'object', properties: { b: a }, required: ['b', 'c'] },
    { type: 'OBJECT', properties: { b: STRING }, required: ['b'] },
  ],
  ['an empty text is no value of a list', { enum: ['x', ''] }, { ...STRING, format: 'enum', enum: ['x'] }],
  [
    'all of several objects have the fields of all',
    { allOf: [of({ b: a }), of({ c: a })] },
    { type: 'OBJECT', properties: { b: STRING, c: STRING } },
  ],
]
for (const [name, schema, written] of rules)
  test(`schemas of older models of Gemini's follow the rules beyond the names of words: ${name}`, (t) => {
    t.deepEqual(subsetOf(schema), written)
  })

test('beside a reference nothing stands but what begins with a dollar, for models of Gemini that know references', (t) => {
  const $defs = { b: of({ c: { $ref: '#/$defs/d', title: 't' } }), d: a }
  const schema = of({ a: { $ref: '#/$defs/b', description: 'x' }, e: { $ref: '#/$defs/d' } }, { $defs })
  const { body } = ask('google', 'gemini-2.5-flash', { tools: [tool(schema)] })
  t.like(body, {
    tools: {
      0: {
        functionDeclarations: {
          0: {
            parametersJsonSchema: of(
              { a: { description: 'x', anyOf: [{ $ref: '#/$defs/b' }] }, e: { $ref: '#/$defs/d' } },
              { $defs: { b: of({ c: { title: 't', anyOf: [{ $ref: '#/$defs/d' }] } }), d: a } },
            ),
          },
        },
      },
    },
  })
})

test('a schema that is no object is named', (t) => {
  t.is(
    t.throws(() => ask('anthropic', claude.anthropic, { tools: [tool('x')] }), { instanceOf: ApiError }).param,
    'tools[0].function.parameters',
  )
})

/** A schema in which each definition refers twice to the next: written out it is twice as long for each. */
function doubling(times: number): Body {
  const $defs: Record<string, unknown> = { [`d${times}`]: { type: 'string' } }
  for (let at = 0; at < times; at += 1) $defs[`d${at}`] = of({ a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } })
  return of({ a: { $ref: '#/$defs/d0' } }, { $defs })
}
const writers = [
  ['google', 'gemini-2.0-flash'],
  ['bedrock', 'amazon.nova-pro-v1:0'],
] as const
for (const [to, model] of writers)
  test(`references that would fill the memory when they are written out are a 400 that names them, for ${model}`, (t) => {
    t.notThrows(() => ask(to, model, { tools: [tool(doubling(5))] }))
    for (const schema of [doubling(38), of({ a: { $ref: '#/$defs/node' } }, { $defs: { node } })]) {
      const refused = t.throws(() => ask(to, model, { tools: [tool(schema)] }), { instanceOf: ApiError })
      t.regex(refused.param ?? '', /^tools\[0\].*parameters$/)
    }
  })
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, a]))
const beside = (count: number) => of({ x: { ...of(many(count)), anyOf: Array.from({ length: count }, () => of({ b: a })) } })
test('fields beside a long choice, which would stand in each of its schemas, are a 400 too', (t) => {
  t.notThrows(() => ask('google', 'gemini-2.0-flash', { tools: [tool(beside(20))] }))
  const refused = t.throws(() => ask('google', 'gemini-2.0-flash', { tools: [tool(beside(300))] }), { instanceOf: ApiError })
  t.regex(refused.message, /grows by more than 1048576 characters/)
})

const long = 'd'.repeat(20_000)
/** Schemas that become about a megabyte, twice, when they are written out. */
const growing: readonly (readonly [name: string, to: DialectId, model: string, schema: Body])[] = [
  ['words beside a choice', 'google', 'gemini-2.0-flash', of({ q: { description: long, anyOf: Array.from({ length: 30 }, () => a) } })],
  [
    'references to a long text',
    'google',
    'gemini-2.0-flash',
    of({ q: { anyOf: refs(30) } }, { $defs: { a: { ...a, description: long } } }),
  ],
  ['references to a long text', 'bedrock', 'amazon.nova-pro-v1:0', of({ q: { anyOf: refs(30) } }, { $defs: { a: { description: long } } })],
]
function refs(count: number): readonly Body[] {
  return Array.from({ length: count }, () => ({ $ref: '#/$defs/a' }))
}
for (const [name, to, model, schema] of growing)
  test(`the schemas of all tools together grow by a bounded length: ${name}, for ${model}`, (t) => {
    t.notThrows(() => ask(to, model, { tools: [tool(schema)] }))
    const refused = t.throws(() => ask(to, model, { tools: [tool(schema), tool(schema, { name: 'g' })] }), { instanceOf: ApiError })
    t.regex(refused.param ?? '', /^tools\[1\].*parameters$/)
  })
for (const [to, model] of writers)
  test(`a schema of any length that is written once is written, for ${model}`, (t) => {
    const schema = of(
      { a: { type: 'string', enum: Array.from({ length: 150_000 }, (_, at) => `value ${at}`) }, b: { $ref: '#/$defs/b' } },
      { $defs: { b: a } },
    )
    const { body } = ask(to, model, { tools: [tool(schema)] })
    t.true(JSON.stringify(body).includes('value 149999'))
  })
test('a choice of one object of many fields, named often, is read once', (t) => {
  const fields = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`p${at}`, a]))
  const schema = { anyOf: refs(5000), $defs: { a: of(fields, { required: Object.keys(fields) }) } }
  const { body } = ask('cohere', 'command-a-03-2025', { tools: [tool(schema)] })
  const [first] = body['tools'] as { function: { parameters: Body } }[]
  t.like(first?.function.parameters, { properties: fields, required: Object.keys(fields) })
})
for (const to of ['anthropic', 'bedrock'] as const)
  test(`references of any number are read once, for Claude at ${to}`, (t) => {
    const found = heldFormat(to, doubling(60))
    t.like(found.schema, { additionalProperties: false, properties: { a: { $ref: '#/$defs/d0' } } })
  })

test("models of Amazon's get schemas without references", (t) => {
  const schema = of(
    { a: { $ref: '#/$defs/x' }, b: { type: 'array', items: { $ref: '#/$defs/x' } } },
    { $defs: { x: of({ c: a }) }, required: ['a'], additionalProperties: false },
  )
  const { body } = ask('bedrock', 'amazon.nova-pro-v1:0', { tools: [tool(schema)] })
  const [first] = (body['toolConfig'] as { tools: { toolSpec: { inputSchema: { json: Body } } }[] }).tools
  const written = of({ a: of({ c: a }), b: { type: 'array', items: of({ c: a }) } }, { required: ['a'], additionalProperties: false })
  t.deepEqual(first?.toolSpec.inputSchema.json, written)
})
