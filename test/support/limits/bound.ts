import { type PricedRequest, worstCost } from '../../../src/gateway/limits/worst-cost.ts'
import { outputReader } from '../../../src/gateway/limits/output-bound.ts'
import { watchForm } from '../../../src/gateway/wire/form-watch.ts'
import { operations, type Task } from '../../../src/gateway/operations/operations.ts'
import type { PriceEntry } from '../../../src/gateway/prices/entry.ts'
import { noPrices } from '../../../src/gateway/prices/price-source.ts'
import { findProvider } from '../../../src/gateway/providers/catalog.ts'

/** Rates for a token in pico-US-dollars, a thousand of which are a nano-US-dollar. */
const entry: PriceEntry = {
  prices: [
    {
      rates: { input: 1_000_000, output: 2_000_000, cache_write: 1_250_000, cache_write_1h: 2_000_000, web_search: 10_000_000_000 },
      when: [
        { over: 5000, rates: { input: 3_000_000, output: 6_000_000 } },
        { mode: 'priority', rates: { input: 2_000_000, output: 4_000_000 } },
      ],
    },
  ],
  limits: { context: 10_000, output: 4000 },
}
const listed: Readonly<Record<string, PriceEntry>> = {
  m: entry,
  plain: { prices: [{ rates: { input: 1_000_000, output: 2_000_000 } }], limits: { context: 10_000, output: 4000 } },
  'reads-less': { prices: [{ rates: { input: 1_000_000, output: 2_000_000 } }], limits: { context: 10_000, input: 8000, output: 4000 } },
  'gpt-5.6': entry,
  ranks: { prices: [{ rates: { search_unit: 2_000_000_000 } }] },
  free: { prices: [{ rates: {} }], free: true },
  pictures: { prices: [{ rates: { image: 40_000_000_000 } }] },
  voice: { prices: [{ rates: { input_character: 15_000_000 } }] },
  abroad: { ...entry, uplift: { eu: 1100 } },
  'draws-image': {
    prices: [{ rates: { input: 1_000_000, output: 2_000_000, output_image: 30_000_000 } }],
    limits: { context: 10_000, output: 4000 },
    out: ['image', 'text'],
  },
  'draws-image-unpriced': { prices: [{ rates: { input: 1_000_000, output: 2_000_000 } }], out: ['image', 'text'] },
  'words-alone': { prices: [{ rates: { input: 1_000_000, output: 2_000_000, output_image: 30_000_000 } }], out: ['text'] },
  thinks: { prices: [{ rates: { input: 1_000_000, output: 2_000_000, reasoning: 8_000_000 } }] },
  hears: {
    prices: [{ rates: { input: 1_000_000, output: 2_000_000, input_audio: 4_000_000, output_audio: 1_000_000 } }],
    limits: { context: 10_000, output: 4000 },
  },
  'sonar-deep-research': { prices: [{ rates: { input: 1_000_000, output: 2_000_000, web_search: 5_000_000_000 } }] },
  sonar: {
    prices: [{ rates: { input: 1_000_000, output: 2_000_000, web_search_low: 5_000_000_000, web_search_high: 12_000_000_000 } }],
    limits: { context: 10_000 },
  },
  'model-router': { prices: [{ rates: { input: 1_000_000, output: 2_000_000 } }] },
  'plain:online': { prices: [{ rates: { input: 1_000_000, output: 2_000_000 } }] },
  'claude-plain': { prices: [{ rates: { input: 1_000_000, output: 2_000_000 } }], limits: { context: 10_000, output: 4000 } },
  listens: { prices: [{ rates: { input_audio_second: 1_000_000_000 } }] },
  'reads-by-token': { prices: [{ rates: { input: 1_000_000 } }] },
  'image-tokens': { prices: [{ rates: { input: 1_000_000, output_image: 30_000_000 } }] },
  says: { prices: [{ rates: { input: 1_000_000, output: 10_000_000, output_audio: 12_000_000 } }] },
}
const prices = {
  ...noPrices,
  find: (_: string, model: string) => {
    const found = listed[model]
    return found === undefined ? null : { entry: found, source: 'built_in', catalogue: 'x' }
  },
}

export interface Asked {
  readonly operation?: keyof typeof operations
  readonly task?: Task
  readonly policy?: 'strict' | 'typical'
  /** The target is provisioned throughput that is not charged. */
  readonly provisioned?: boolean
  readonly providerId?: string
  readonly headers?: readonly string[]
  /** Those that the operator stored with the provider. */
  readonly customHeaders?: Readonly<Record<string, string>>
  /** The body as it is written, where escapes matter. */
  readonly written?: string
  /** A body that is no JSON, in place of it; a form is watched. */
  readonly upload?: { readonly bytes: Buffer; readonly contentType: string }
}

function uploaded({ bytes, contentType }: NonNullable<Asked['upload']>) {
  const watched = watchForm(contentType)
  watched?.add(bytes)
  return { kind: 'bytes', bytes, json: undefined, stream: null, length: bytes.length, ...(watched !== null && { watched }) }
}

/** Returns the most that a request may cost, and the bytes of its body. */
export function bound(json: object, asked: Asked = {}) {
  const {
    operation = 'chatComplete',
    task: named,
    policy = 'strict',
    provisioned = false,
    providerId = 'openai',
    headers = [],
    customHeaders = {},
  } = asked
  const bytes = Buffer.from(asked.written ?? JSON.stringify(json))
  const { dialect } = operations[operation]
  const { task = null } = named === undefined ? (operations[operation] as { readonly task?: Task }) : { task: named }
  const provider = findProvider(providerId)
  if (provider === null) throw new Error(providerId)
  const target = {
    providerId,
    provider,
    view: provisioned ? { credential: { fields: {} }, prices: { multipliers: null, models: new Map(), skipsCost: true } } : null,
    credential: { fields: {} },
    customHeaders,
    model: 'model' in json ? json.model : null,
  }
  const request = {
    target,
    task,
    reader: outputReader({ dialect, provider, providerId, fields: {}, isOwnPath: false }),
    contentType: asked.upload?.contentType ?? 'application/json',
    headers,
    receivedAt: 0,
    usual: 1024,
    body: asked.upload === undefined ? { kind: 'json', bytes, json, stream: null, length: null } : uploaded(asked.upload),
  }
  return { nano: worstCost(request as unknown as PricedRequest, prices, policy), bytes: bytes.length }
}
