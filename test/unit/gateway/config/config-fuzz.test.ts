// oxlint-disable unicorn/no-thenable -- the name of a field in every config there is
import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { compileConfig } from '../../../../src/gateway/config/compile.ts'
import { gatewayConfig } from '../../../../src/gateway/config/config.schema.ts'
import { plainIssue } from '../../../../src/lib/json/plain-issue.ts'
import { schemaFaults } from '../../../../src/lib/json/schema-faults.ts'
import { startGateway, workspaceKey } from '../../../support/gateway.ts'
import { send } from '../../../support/http.ts'

interface Corpus {
  readonly accepted: readonly unknown[]
  readonly refused: readonly (readonly [config: unknown, path: string])[]
}

/** Values with two readings; the finds of the fuzzer are added. */
const corpus = JSON.parse(readFileSync(new URL('../../../corpus/configs.json', import.meta.url), 'utf8')) as Corpus

/** FUZZ_RUNS asks for more than a build has time for. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 800)

/** The place where a config is refused; null when it is accepted, and then it can be made ready too. */
function refusedAt(config: unknown): string | null {
  const parsed = gatewayConfig.safeParse(config, { error: plainIssue })
  if (parsed.success) {
    compileConfig(parsed.data)
    return null
  }
  const faults = schemaFaults(parsed.error, { value: config, above: 'config', whole: 'config' })
  for (const { param, message } of faults) if (message.length < 5) throw new Error(`no reason is given at ${param}`)
  return faults[0]?.param ?? null
}

test('the corpus is accepted as it is, or refused at the place of the fault', (t) => {
  for (const config of corpus.accepted) t.is(refusedAt(config), null, JSON.stringify(config))
  for (const [config, path] of corpus.refused) t.is(refusedAt(config), path, JSON.stringify(config))
})

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    '*',
    -1,
    0,
    1e300,
    true,
    [],
    {},
    [[]],
    'x'.repeat(5000),
    '__proto__',
    'constructor',
    '\0',
    '\ud800',
    '($',
  ),
  fc.jsonValue({ maxDepth: 3 }),
)
const key = fc.oneof(
  fc.constantFrom(
    'provider',
    'targets',
    'strategy',
    'retry',
    'weight',
    'constructor',
    'toString',
    'hasOwnProperty',
    'prototype',
    '$and',
    '$or',
    'checks',
    'id',
  ),
  fc.string({ maxLength: 10 }),
)

/** A change somewhere in a config: its place, its kind, and its value. */
const change = fc.record({ at: fc.nat(10_000), how: fc.constantFrom('set', 'add', 'drop', 'wrap', 'double'), key, value: odd })
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

interface Place {
  readonly holder: Record<string, unknown> | unknown[]
  readonly name: string
}

function placesIn(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Place['holder']
  return Object.entries(value).flatMap(([name, child]) => [{ holder, name }].concat(placesIn(child)))
}

function put({ holder, name }: Place, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
}

function changed(config: unknown, changes: readonly Change[]): unknown {
  const copy: unknown = structuredClone(config)
  for (const { at, how, key: name, value: shared } of changes) {
    const value: unknown = structuredClone(shared)
    const places = placesIn(copy)
    const place = places[at % Math.max(1, places.length)]
    if (place === undefined) continue
    const held: unknown = Reflect.get(place.holder, place.name)
    if (how === 'set') put(place, value)
    else if (how === 'drop') Reflect.deleteProperty(place.holder, place.name)
    else if (how === 'wrap') put(place, [held])
    else if (how === 'double') put(place, [held, structuredClone(held)])
    else if (typeof held === 'object' && held !== null)
      put({ holder: held as Place['holder'], name: Array.isArray(held) ? String(held.length) : name }, value)
  }
  return copy
}

const config = fc
  .tuple(fc.constantFrom(...corpus.accepted), fc.array(change, { minLength: 1, maxLength: 4 }))
  .map(([good, changes]) => changed(good, changes))

const prototypes = () => [Object.prototype, Array.prototype, Function.prototype].map((each) => Reflect.ownKeys(each).length)

test('whatever a config holds, it can be made ready, or is refused at a path of its own', (t) => {
  const before = prototypes()
  fc.assert(
    fc.property(config, (given) => {
      const path = refusedAt(given)
      return path === null || /^config(?:[.[]|$)/.test(path)
    }),
    { numRuns },
  )
  t.deepEqual(prototypes(), before)
  t.false('polluted' in {})
})

test('large and twisted configs cost little', (t) => {
  const nested = (depth: number): object =>
    depth === 0 ? { provider: '@a' } : { strategy: { mode: 'single' }, targets: [nested(depth - 1)] }
  const wide = { strategy: { mode: 'loadbalance' }, targets: Array.from({ length: 100 }, () => nested(5)) }
  const query = (depth: number): object => (depth === 0 ? { 'params.a': 1 } : { $and: [query(depth - 1), query(depth - 1)] })
  const asks = {
    strategy: { mode: 'conditional', conditions: [{ query: query(9), then: 'a' }], default: 'a' },
    targets: [{ name: 'a', provider: '@a' }],
  }
  const rules = { input_guardrails: Array.from({ length: 50 }, (_, at) => ({ 'default.regexMatch': { rule: `(a${at}|b*)*c{${at}}` } })) }
  const wrong = { input_guardrails: Array.from({ length: 50 }, () => ({ 'default.nothing': {} })) }
  const from = process.cpuUsage()
  for (const given of [nested(60), wide, asks, rules]) t.is(refusedAt(given), null)
  t.is(refusedAt(wrong), 'config.input_guardrails[0].default.nothing')
  const { user, system } = process.cpuUsage(from)
  t.true(user + system < 10_000_000, `${(user + system) / 1000} ms`)
})

const noNames = () => Promise.reject(new Error('There are no names here.'))

test('as a header, no config is a 500, and each 400 names the place', async (t) => {
  const bed = await startGateway({ providers: { a: {} }, trustedHosts: [], resolve: noNames })
  const before = prototypes()
  const texts = fc.oneof(
    config.map((given) => JSON.stringify(given)),
    config.map((given) => JSON.stringify(given).replace('"provider"', '"__proto__"')),
    fc.tuple(config, fc.nat(200)).map(([given, at]) => `{${(JSON.stringify(given) ?? '').slice(1, -at - 1)}`),
  )
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const header = Buffer.from(text).toString('latin1')
      if (!text.startsWith('{') || text.length > 8000 || /[\0\r\n]/.test(header)) return
      // A path that names no endpoint of a provider with a host: a right one ends at the provider's, a wrong one before.
      const answer = await send(`${bed.origin}/v1/vector_stores`, {
        headers: { 'x-service-api-key': workspaceKey, 'x-service-config': header, 'x-service-custom-host': 'http://10.0.0.1' },
      })
      const { error } = JSON.parse(answer.text) as { error: { code: string; param: string | null } }
      t.not(answer.status, 500, `${text}\n${answer.text}`)
      if (error.code === 'invalid_request') t.truthy(error.param, `${text}\n${answer.text}`)
    }),
    { numRuns: Math.ceil(numRuns / 4) },
  )
  t.deepEqual(prototypes(), before)
  await bed.stop()
})
