import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { headerBytes } from '../../src/gateway/journal/frame.ts'
import { writeRecord } from '../../src/gateway/journal/record.ts'
import type { ExchangeBodies, ExchangeRecord } from '../../src/gateway/ports.ts'
import { JsonWriter } from '../../src/lib/json/json-writer.ts'
import { uuidv7 } from '../../src/lib/uuid.ts'

export const organisationId = '01980000-0000-7000-8000-000000000001'
export const workspaceId = '01980000-0000-7000-8000-000000000002'

/** Any text in the place of a record. */
export function recordText(text: string): JsonWriter {
  const json = new JsonWriter({ reserved: headerBytes })
  json.raw(text)
  return json
}

/** A record as a frame takes it. */
export function writtenRecord(record: ExchangeRecord): JsonWriter {
  const json = new JsonWriter({ reserved: headerBytes })
  writeRecord(json, record)
  return json
}

/** A record as the pipeline makes it. */
export function exchangeRecord(fields: Partial<ExchangeRecord> = {}): ExchangeRecord {
  const createdAt = fields.createdAt ?? Date.now()
  return {
    id: uuidv7(createdAt),
    organisationId,
    workspaceId,
    createdAt,
    apiKeyId: '01980000-0000-7000-8000-000000000003',
    userId: null,
    clientAddress: '192.0.2.7',
    method: 'POST',
    path: '/chat/completions',
    operation: 'chat_completions',
    provider: 'openai',
    providerSlug: 'openai-main',
    model: 'gpt-4o-mini',
    status: 200,
    outcome: 'complete',
    errorCode: null,
    stream: false,
    durationMs: 12.5,
    upstreamMs: 11,
    firstByteMs: 12,
    usage: { inputTokens: 12, outputTokens: 30, totalTokens: 42, cacheReadTokens: 4, cacheWriteTokens: null, reasoningTokens: null },
    usageSource: 'provider',
    retryCount: 0,
    cacheStatus: 'DISABLED',
    lastUsedOption: 'config',
    cost: null,
    cachedLogId: null,
    mirrorOf: null,
    billed: true,
    config: null,
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: null,
    parentSpanId: null,
    spanName: null,
    metadata: { env: 'test' },
    requestBytes: 20,
    responseBytes: 40,
    prompt: null,
    hooks: null,
    attempts: null,
    translation: null,
    spent: null,
    jobs: null,
    upstreamUrl: 'https://api.openai.com/v1/chat/completions',
    requestHeaders: { 'content-type': 'application/json' },
    responseHeaders: { 'content-type': 'application/json' },
    ...fields,
  }
}

/** Bodies of the given text; null for none. */
export const exchangeBodies = (request: string | Buffer | null, response: string | Buffer | null): ExchangeBodies => ({
  request: request === null ? null : Buffer.from(request),
  response: response === null ? null : Buffer.from(response),
  requestTruncated: false,
  responseTruncated: false,
})

/** A directory of its own for a test, and how to remove it. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-journal-'))
  return { path: directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** Waits for an effect of another process. */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> {
  for (const deadline = Date.now() + limitMs; !(await holds()); await sleep(25)) {
    if (Date.now() > deadline) throw new Error('it did not happen in time')
  }
}
