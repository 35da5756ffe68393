// oxlint-disable unicorn/no-thenable -- a keyword of schemas
import test from 'ava'
import { compileSchema } from '../../../../src/gateway/checks/json-schema/compile.ts'
import { schemaFault } from '../../../../src/gateway/checks/json-schema/schema-fault.ts'

type Case = readonly [schema: unknown, fits: readonly unknown[], fails: readonly unknown[]]

const names = { __proto__: null, ...JSON.parse('{"__proto__":1}') } as object
const tree = {
  type: 'object',
  properties: { nodes: { type: 'array', items: { $ref: '#' } }, value: { type: 'number' } },
  required: ['value'],
}

/** The standard's rules for each keyword, drafts 7 to 2020-12, with the corners in which validators differ. */
const cases: Readonly<Record<string, readonly Case[]>> = {
  boolean: [
    [true, [1, 'a', {}, null], []],
    [false, [], [1, 'a', {}, null]],
    [{}, [1, null, []], []],
  ],
  type: [
    [{ type: 'integer' }, [1, 1.0, -0, 1e300], [1.1, '1', true, null, [], {}]],
    [{ type: 'number' }, [1, 1.1], ['1', true, null]],
    [{ type: 'string' }, ['', '1'], [1, null, ['a']]],
    [{ type: 'object' }, [{}], [[], null, 'a']],
    [{ type: 'array' }, [[]], [{}, 'a']],
    [{ type: 'null' }, [null], [0, '', false, {}]],
    [{ type: 'boolean' }, [true, false], [0, 1, 'true', null]],
    [{ type: ['integer', 'string'] }, [1, 'a'], [1.1, null]],
  ],
  enum: [
    [{ enum: [6, 'foo', [], true, { foo: 12 }] }, [6, [], { foo: 12 }], [null, { foo: false }, { foo: 12, bar: 4 }]],
    [{ enum: [false] }, [false], [0, [false]]],
    [{ enum: [0] }, [0, 0.0], [false, '0']],
    [{ enum: ['a\0b'] }, ['a\0b'], ['ab']],
  ],
  const: [
    [{ const: { a: 1, b: [2] } }, [{ b: [2], a: 1 }], [{ a: 1 }, [{ a: 1, b: [2] }]]],
    [{ const: false }, [false], [0, null, []]],
    [{ const: null }, [null], [0, '']],
    [{ const: { a: false } }, [{ a: false }], [{ a: 0 }]],
  ],
  numbers: [
    [{ multipleOf: 2 }, [10, 'foo', 0], [7]],
    [{ multipleOf: 0.01 }, [19.99, 4.02], [0.0075]],
    [{ minimum: 1.1 }, [1.1, 2.6, 'x'], [0.6]],
    [{ maximum: 3 }, [3, -10], [3.5]],
    [{ exclusiveMinimum: 1.1 }, [1.2], [1.1, 0.6]],
    [{ exclusiveMaximum: 3 }, [2.2], [3, 3.5]],
  ],
  strings: [
    [{ minLength: 2 }, ['fo', 100, '\u{1f4a9}\u{1f4a9}'], ['f', '\u{1f4a9}']],
    [{ maxLength: 2 }, ['fo', '\u{1f4a9}\u{1f4a9}'], ['foo']],
    [{ pattern: '^a*$' }, ['aaa', 123, null, {}], ['abc']],
    [{ pattern: 'a+' }, ['xxaayy'], ['xx']],
  ],
  arrays: [
    [{ items: { type: 'integer' } }, [[1, 2], [], { foo: 'bar' }], [[1, 'x']]],
    [{ items: false }, [[]], [[1]]],
    [{ prefixItems: [{ type: 'integer' }, { type: 'string' }], items: false }, [[1], [1, 'a'], []], [['a'], [1, 'a', 2]]],
    [{ items: [{ type: 'integer' }], additionalItems: { type: 'string' } }, [[1, 'a', 'b']], [[1, 2]]],
    [{ contains: { minimum: 5 } }, [[3, 4, 5], 'x'], [[2, 3], []]],
    [
      { contains: { const: 1 }, minContains: 2, maxContains: 3 },
      [
        [1, 1],
        [1, 2, 1, 1],
      ],
      [[1], [1, 1, 1, 1]],
    ],
    [{ contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
    [{ minItems: 1 }, [[1], ''], [[]]],
    [{ maxItems: 2 }, [[1, 2], 'foobar'], [[1, 2, 3]]],
    [
      { uniqueItems: true },
      [[1, true], [0, false], [[1], [true]], [{ a: 1 }, { a: 2 }], [], ['a', 'A'], [null, 'null']],
      [
        [1, 1.0],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
        [['x'], ['x']],
        [{ a: { b: [1] } }, { a: { b: [1] } }],
      ],
    ],
    [{ uniqueItems: false }, [[1, 1]], []],
  ],
  objects: [
    [{ properties: { foo: { type: 'integer' }, bar: false } }, [{ foo: 1 }, [], { other: 1 }], [{ foo: 'a' }, { bar: 1 }]],
    [
      { properties: { toString: { type: 'string' }, constructor: { type: 'number' } } },
      [{}, [], { toString: 'a', constructor: 1 }],
      [{ toString: 1 }, { constructor: 'a' }],
    ],
    [
      { required: ['__proto__', 'toString', 'constructor'] },
      [{ toString: 1, constructor: 1, ['__proto__']: 1 }],
      [{}, { toString: 1 }, names],
    ],
    [{ additionalProperties: false, properties: { a: {} }, patternProperties: { '^v': {} } }, [{ a: 1, vroom: 2 }], [{ a: 1, quux: 1 }]],
    [{ additionalProperties: { type: 'boolean' } }, [{ a: true }], [{ a: 1 }]],
    [{ patternProperties: { 'f.*o': { type: 'integer' } } }, [{ foo: 1, fxo: 2 }, 12], [{ foooo: 'x' }]],
    [{ propertyNames: { maxLength: 3 } }, [{ f: 1, foo: 2 }, {}], [{ foobar: 1 }]],
    [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }, 12], [{}, { a: 1, b: 2, c: 3 }]],
    [{ dependentRequired: { bar: ['foo'] } }, [{ foo: 1 }, { foo: 1, bar: 2 }, 'x'], [{ bar: 1 }]],
    [{ dependentSchemas: { bar: { required: ['foo'] } } }, [{ foo: 1, bar: 2 }], [{ bar: 1 }]],
    [
      { dependencies: { bar: ['foo'], qux: { minProperties: 2 } } },
      [
        { foo: 1, bar: 2 },
        { qux: 1, a: 1 },
      ],
      [{ bar: 1 }, { qux: 1 }],
    ],
  ],
  combinations: [
    [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, [2], [0, 4]],
    [{ anyOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5], [1.5]],
    [{ oneOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5], [3, 1.5]],
    [{ not: { type: 'integer' } }, ['a', 1.1], [1]],
    [{ not: {} }, [], [1, {}]],
    [{ if: { minimum: 10 }, then: { multipleOf: 2 }, else: { maximum: 5 } }, [12, 3], [11, 7]],
    [{ if: false, else: { const: 1 } }, [1], [2]],
    [{ then: { const: 1 } }, [2], []],
  ],
  references: [
    [tree, [{ value: 1, nodes: [{ value: 2, nodes: [] }] }], [{ value: 1, nodes: [{ value: 'x' }] }, { nodes: [] }]],
    [
      {
        $defs: { 'tilde~field': { type: 'integer' }, 'slash/field': { type: 'string' } },
        properties: { t: { $ref: '#/$defs/tilde~0field' }, s: { $ref: '#/$defs/slash~1field' } },
      },
      [{ t: 1, s: 'a' }],
      [{ t: 'a' }, { s: 1 }],
    ],
    [{ $defs: { 'a%b': { type: 'integer' } }, $ref: '#/$defs/a%25b' }, [1], ['a']],
    [{ $defs: { a: { $anchor: 'here', type: 'integer' } }, $ref: '#here' }, [1], ['a']],
    [{ properties: { $ref: { type: 'string' } } }, [{ $ref: 'a' }], [{ $ref: 2 }]],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'integer' } } }, [1], ['a']],
  ],
  remarks: [[{ title: 'x', $comment: 'y', format: 'no-such-format', unknown: { type: 'string' }, default: 1 }, [1, 'a'], []]],
}

for (const [group, list] of Object.entries(cases))
  for (const [schema, fits, fails] of list)
    test(`${group}: ${JSON.stringify(schema).slice(0, 90)}`, (t) => {
      t.is(schemaFault(schema), null)
      const validate = compileSchema(schema)
      for (const value of fits) t.deepEqual(validate(value), [], JSON.stringify(value))
      for (const value of fails) t.not(validate(value).length, 0, JSON.stringify(value))
    })

test('a schema that cannot be carried out whole is refused', (t) => {
  for (const [schema, says] of [
    [{ $ref: 'https://example.com/schema' }, /not in it/],
    [{ $ref: '#/$defs/gone' }, /not in it/],
    [{ pattern: '(?=a)' }, /pattern/],
    [{ properties: { a: { patternProperties: { '(': {} } } } }, /pattern/],
    [{ unevaluatedProperties: false }, /not supported/],
    [{ $dynamicRef: '#x' }, /not supported/],
  ] as const)
    t.regex(schemaFault(schema) ?? '', says)
})

test('a keyword that would judge nothing is refused, and found; a property may be called like one', (t) => {
  const typed = 'null, boolean, object, array, number, integer, string'
  for (const [schema, says] of [
    [{ type: 'strnig' }, `is wrong at #: \`type\` is not one of ${typed}, or a list of them`],
    [{ type: 'constructor' }, `is wrong at #: \`type\` is not one of ${typed}, or a list of them`],
    [{ type: [] }, `is wrong at #: \`type\` is not one of ${typed}, or a list of them`],
    [{ required: 'name' }, 'is wrong at #: `required` is not a list of names'],
    [{ properties: ['a'] }, 'is wrong at #: `properties` is not an object of schemas'],
    [
      { properties: { 'a/b': { items: [{ minLength: -1 }] } } },
      'is wrong at #/properties/a~1b/items/0: `minLength` is not a whole number of 0 or more',
    ],
    [{ not: { maxItems: '5' } }, 'is wrong at #/not: `maxItems` is not a whole number of 0 or more'],
    [{ anyOf: [{}, { multipleOf: 0 }] }, 'is wrong at #/anyOf/1: `multipleOf` is not a number above 0'],
    [{ exclusiveMinimum: true, minimum: 1 }, 'is wrong at #: `exclusiveMinimum` is not a number'],
    [{ allOf: {} }, 'is wrong at #: `allOf` is not a list of schemas'],
    [{ items: 'string' }, 'is wrong at #: `items` is not a schema or a list of schemas'],
    [{ additionalProperties: null }, 'is wrong at #: `additionalProperties` is not a schema'],
    [{ dependentRequired: { a: 'b' } }, 'is wrong at #: `dependentRequired` is not an object of lists of names'],
    [{ dependencies: { a: 'b' } }, 'is wrong at #: `dependencies` is not an object of schemas or lists of names'],
    [{ uniqueItems: 'yes' }, 'is wrong at #: `uniqueItems` is not true or false'],
    [{ enum: 'a' }, 'is wrong at #: `enum` is not a list'],
    [{ pattern: 5 }, 'is wrong at #: `pattern` is not a text'],
    [{ $ref: '#/x', x: { y: { $ref: '#/x/y/z', z: { enum: 1 } } } }, null],
    [{ $ref: '#/x/y', x: { y: { $ref: '#/x/y/z', z: { enum: 1 } } } }, 'is wrong at #/x/y/z: `enum` is not a list'],
    [{ $ref: '#/x', x: 5 }, 'refers to #/x, which is no schema'],
    [{ properties: { type: { enum: ['a'] }, required: { const: { minLength: 'x' } }, unevaluatedItems: {} } }, null],
    [{ 'x-note': { type: 'strnig' }, enum: [{ type: 'strnig' }], default: { required: 1 } }, null],
  ] as const)
    t.is(schemaFault(schema), says, JSON.stringify(schema))
})

test('references and patterns are bound, and never a fault of ours', (t) => {
  t.regex(schemaFault({ $ref: '#/%' }) ?? '', /refers to #\/%/)
  t.is(schemaFault({ $ref: '#/100%', '100%': {} }), null)
  t.regex(schemaFault({ allOf: Array.from({ length: 100 }, (_, at) => ({ pattern: `a{900}${at}` })) }) ?? '', /too large together/)
  const anchors = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`d${at}`, { $anchor: `a${at}` }]))
  const from = process.cpuUsage()
  t.is(schemaFault({ $defs: anchors, allOf: Array.from({ length: 5000 }, (_, at) => ({ $ref: `#a${at}` })) }), null)
  const { user, system } = process.cpuUsage(from)
  t.true(user + system < 1_000_000, `${(user + system) / 1000} ms`)
})

test('a fault tells where it is', (t) => {
  const validate = compileSchema({ properties: { 'a/b': { items: { type: 'integer' } } } })
  t.deepEqual(
    validate({ 'a/b': [1, 'x'] }).map(({ path }) => path),
    ['/a~1b/1'],
  )
})

test('work without end is cut off', (t) => {
  const endless = { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }
  t.throws(() => compileSchema(endless)(1))
  const doubling = {
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`d${at}`, { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }]),
    ),
    $ref: '#/$defs/d0',
  }
  t.throws(() => compileSchema({ ...doubling, $defs: { ...doubling.$defs, d40: {} } })(1), { message: /too much work|takes too long/ })
  const from = process.cpuUsage()
  const many = Array.from({ length: 60_000 }, (_, at) => ({ at }))
  t.deepEqual(compileSchema({ uniqueItems: true })(many), [])
  const { user, system } = process.cpuUsage(from)
  t.true(user + system < 5_000_000, `${(user + system) / 1000} ms`)
})
