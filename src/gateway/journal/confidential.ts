import type { ExchangeBodies, ExchangeRecord } from './log-record.ts'

/** Lists for each confidential fact the part that stays in the clear. */
type InClear = { readonly [Fact in keyof ExchangeRecord]?: (value: ExchangeRecord[Fact]) => ExchangeRecord[Fact] }

const nothing = (): null => null
const noHeaders = (): Readonly<Record<string, string>> => ({})
type Hooks = NonNullable<ExchangeRecord['hooks']>['before_request_hooks']
/** The verdicts of guardrails, without their inputs and findings. */
const verdictsOf = (hooks: Hooks): Hooks => hooks.map((hook) => ({ ...hook, checks: [], feedback: null }))

/**
 * The confidential facts of a record, in the order in which they stand in the sealed part of its log. A new one comes last, and is null in values
 * that were sealed before it. A query can hold anything, so the path ends before it.
 */
const rows = {
  path: (path: string): string => path.split('?', 1)[0] ?? '',
  upstreamUrl: nothing,
  requestHeaders: noHeaders,
  responseHeaders: noHeaders,
  hooks: (hooks) =>
    hooks && {
      before_request_hooks: verdictsOf(hooks.before_request_hooks),
      after_request_hooks: verdictsOf(hooks.after_request_hooks),
    },
  attempts: (attempts) => attempts && attempts.map((attempt) => ({ ...attempt, error: null })),
  translation: nothing,
} satisfies InClear

type Name = keyof typeof rows
type Facts = Pick<ExchangeRecord, Name>
const inClear: { readonly [Fact in Name]: (value: ExchangeRecord[Fact]) => ExchangeRecord[Fact] } = rows
const isName = (name: string): name is Name => Object.hasOwn(inClear, name)
const names = Object.keys(inClear).filter(isName)

function toFacts(valueOf: (name: Name, at: number) => unknown): Facts {
  const entries: readonly (readonly unknown[])[] = names.map((name, at) => [name, valueOf(name, at)])
  const facts: Facts = Object.fromEntries(entries)
  return facts
}

/**
 * The confidential part of a log, sealed as one text: three lengths (4 bytes each, little-endian: facts, request body, response body; a body that is
 * absent has 0xffffffff), the facts as JSON text, the bodies. The fields by which logs are listed and filtered stay in the clear.
 */
export interface Confidential extends Facts {
  readonly request: Uint8Array | null
  readonly response: Uint8Array | null
}

/** The layout's version, the first element of the facts. */
const version = 1
const headBytes = 12
const absent = 0xff_ff_ff_ff

/** Encodes the confidential part of an exchange, in pieces. */
export function encodeConfidential(record: ExchangeRecord, { request, response }: ExchangeBodies): readonly Uint8Array[] {
  const facts = Buffer.from(JSON.stringify([version, ...names.map((name) => record[name])]))
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt32LE(facts.length, 0)
  head.writeUInt32LE(request?.length ?? absent, 4)
  head.writeUInt32LE(response?.length ?? absent, 8)
  return [head, facts, request, response].filter((part) => part !== null)
}

/** Decodes a result of `encodeConfidential`. The bytes are our own, guarded by the seal; throws when their version is another. */
export function decodeConfidential(bytes: Buffer): Confidential {
  const [factsBytes, requestBytes, responseBytes] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)]
  const fields: readonly unknown[] = JSON.parse(bytes.toString('utf8', headBytes, headBytes + factsBytes))
  if (fields[0] !== version) throw new Error(`the sealed part of a log has layout ${String(fields[0])}, not ${version}`)
  const facts = toFacts((_, at) => fields[at + 1] ?? null)
  const requestAt = headBytes + factsBytes
  const responseAt = requestAt + (requestBytes === absent ? 0 : requestBytes)
  return {
    ...facts,
    request: requestBytes === absent ? null : bytes.subarray(requestAt, responseAt),
    response: responseBytes === absent ? null : bytes.subarray(responseAt, responseAt + responseBytes),
  }
}

/** Returns the record with no more of its confidential facts than may stand in the clear. */
export function withoutConfidential(record: ExchangeRecord): ExchangeRecord {
  const clear = <Fact extends Name>(name: Fact) => inClear[name](record[name])
  return { ...record, ...toFacts((name) => clear(name)) }
}
