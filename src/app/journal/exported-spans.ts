import type { ExchangeRecord } from '../../gateway/ports.ts'
import { attemptSpanId, hexId, spanIdOf } from '../../gateway/ports/journal.ts'

/** A value of OTLP's JSON. */
type Value =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean }

/** A span as OTLP's JSON has it. */
export interface ExportedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 2: server, 3: client. */
  readonly kind: 2 | 3
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Value }[]
  readonly status: { readonly code: 0 | 2; readonly message?: string }
}

/** Returns the spans of a request: one of its own, and one for each attempt at a provider. No words of prompts and answers are in them. */
export function toSpans(record: ExchangeRecord): ExportedSpan[] {
  const traceId = hexId(record.traceId, 32)
  const spanId = record.spanId === null ? spanIdOf(record.id) : hexId(record.spanId, 16)
  return [
    {
      traceId,
      spanId,
      ...(record.parentSpanId !== null && { parentSpanId: hexId(record.parentSpanId, 16) }),
      name: record.spanName ?? `${record.method} ${record.operation}`,
      kind: 2,
      ...timesOf(record.createdAt, record.durationMs),
      attributes: attributesOf({
        'http.request.method': record.method,
        'http.response.status_code': record.status,
        'error.type': record.errorCode,
        'gatehouse.operation': record.operation,
        'gatehouse.log.id': record.id,
        'gatehouse.trace.id': record.traceId,
        'gatehouse.organisation.id': record.organisationId,
        'gatehouse.workspace.id': record.workspaceId,
        'gatehouse.api_key.id': record.apiKeyId,
        'gatehouse.cache.status': record.cacheStatus,
        'gatehouse.retry.count': record.retryCount,
        'gatehouse.config.slug': record.config?.slug,
        'gatehouse.prompt.slug': record.prompt?.slug,
        'gatehouse.cost.state': record.cost?.state,
        'gatehouse.cost.pico_usd': record.cost?.amount,
      }),
      // The conventions for servers: a fault of the caller is no failure of the server.
      status: { code: record.status >= 500 ? 2 : 0 },
    },
    ...attemptsOf(record).map((attempt) => attemptSpan(record, attempt, { traceId, spanId })),
  ]
}

/** The facts of an attempt in its span. */
interface AttemptFacts {
  /** Its place in the trail. */
  readonly index: number
  readonly isLast: boolean
  readonly option: string | null
  readonly provider: string | null
  readonly providerSlug: string | null
  readonly model: string | null
  readonly status: number
  readonly failure: string | null
  readonly startMs: number
  readonly durationMs: number
  readonly usage: ExchangeRecord['usage']
}

/** Attempts that were sent. The record of a request with one attempt describes it itself. */
function attemptsOf(record: ExchangeRecord): AttemptFacts[] {
  const { attempts } = record
  if (attempts !== null)
    return attempts.flatMap((attempt, index) => {
      const { startMs, durationMs, usage = null } = attempt
      return startMs === null
        ? []
        : [{ ...attempt, index, isLast: index === attempts.length - 1, startMs, durationMs: durationMs ?? 0, usage }]
    })
  if (record.upstreamMs === null && record.upstreamUrl === null) return []
  if (record.provider === null || record.cachedLogId !== null) return []
  const { lastUsedOption: option, provider, providerSlug, model, status, durationMs, usage, errorCode: failure } = record
  return [{ index: 0, isLast: true, option, provider, providerSlug, model, status, failure, startMs: 0, durationMs, usage }]
}

interface Place {
  readonly traceId: string
  readonly spanId: string
}

function attemptSpan(record: ExchangeRecord, told: AttemptFacts, { traceId, spanId }: Place): ExportedSpan {
  const operation = operations[record.operation] ?? record.operation
  const failed = told.status >= 400 || told.failure !== null
  return {
    traceId,
    spanId: attemptSpanId(record.id, told.index),
    parentSpanId: spanId,
    name: told.model === null ? operation : `${operation} ${told.model}`,
    kind: 3,
    ...timesOf(record.createdAt + told.startMs, told.durationMs),
    attributes: attributesOf({
      'gen_ai.operation.name': operation,
      ...modelOf(record, told),
      ...usageOf(told.usage),
      'http.response.status_code': told.status,
      'error.type': failed ? (told.failure ?? String(told.status)) : null,
      ...serverOf(told.isLast ? record.upstreamUrl : null),
      'gatehouse.attempt': told.index,
      'gatehouse.target': told.option,
      'gatehouse.provider.slug': told.providerSlug,
    }),
    status: { code: failed ? 2 : 0 },
  }
}

const modelOf = ({ stream, cost }: ExchangeRecord, { provider, model, index }: AttemptFacts) => ({
  'gen_ai.provider.name': provider === null ? null : (providers[provider] ?? provider),
  'gen_ai.request.model': model,
  'gen_ai.request.stream': stream,
  'gen_ai.response.model': cost?.charges.find(({ attempt }) => attempt === index)?.answered,
})

const usageOf = (usage: ExchangeRecord['usage']) =>
  usage && {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
  }

/** The record has the address of the last attempt only, and none where logs are sealed. */
function serverOf(upstreamUrl: string | null) {
  const url = upstreamUrl === null ? null : URL.parse(upstreamUrl)
  if (url === null) return {}
  return { 'server.address': url.hostname, 'server.port': url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port) }
}

/** `gen_ai.operation.name`, by our operations. Others stand as they are. */
const operations: Readonly<Record<string, string>> = {
  chatComplete: 'chat',
  promptComplete: 'chat',
  messages: 'chat',
  createModelResponse: 'chat',
  complete: 'text_completion',
  embed: 'embeddings',
  generateContent: 'generate_content',
  streamGenerateContent: 'generate_content',
  embedContent: 'embeddings',
  batchEmbedContents: 'embeddings',
}

/** `gen_ai.provider.name`, by our providers. Others stand as they are. */
const providers: Readonly<Record<string, string>> = {
  bedrock: 'aws.bedrock',
  'azure-openai': 'azure.ai.openai',
  'azure-ai': 'azure.ai.inference',
  'vertex-ai': 'gcp.vertex_ai',
  google: 'gcp.gemini',
  'mistral-ai': 'mistral_ai',
  'perplexity-ai': 'perplexity',
  'x-ai': 'x_ai',
}

/** Milliseconds with a part behind the point as nanoseconds, which no JavaScript number can hold. */
const nanos = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n)
const timesOf = (startMs: number, durationMs: number) => ({
  startTimeUnixNano: nanos(startMs),
  endTimeUnixNano: nanos(startMs + durationMs),
})

/** Leaves out unknown values. */
export function attributesOf(values: Readonly<Record<string, string | number | boolean | null | undefined>>) {
  return Object.entries(values).flatMap(([key, value]) => (value === null || value === undefined ? [] : [{ key, value: valueOf(value) }]))
}

function valueOf(value: string | number | boolean): Value {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
