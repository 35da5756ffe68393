// Lines whose results cannot be written, or that no process brings to an end.
import { Readable } from 'node:stream'
import test from 'ava'
import type { LineQueue, LineResult, OpenBatch } from '../../../../src/gateway/managed/batch-store.ts'
import type { FileStore } from '../../../../src/gateway/managed/file-store.ts'
import { type HeldMeans, runHeld } from '../../../../src/gateway/managed/run-held.ts'

const input = Buffer.from(JSON.stringify({ custom_id: 'mine', method: 'POST', url: '/v1/chat/completions', body: { model: 'm' } }))
const batch: OpenBatch = {
  id: `batch_gw${'0'.repeat(36)}`,
  organisationId: 'o',
  workspaceId: null,
  apiKeyId: 'k',
  endpoint: '/v1/chat/completions',
  inputFileId: 'f',
  clientAddress: '127.0.0.1',
  headers: [],
  expiresAt: Infinity,
}
const absent = () => Promise.reject(new Error('No test asks for it.'))

interface Case {
  readonly attempts?: number
  readonly isOpen?: boolean
  /** Returns true for results that the database takes. */
  readonly takes?: (result: LineResult) => boolean
}

/** Runs a line; returns the results that were stored, how often the provider was asked, and the lines that were given back. */
async function outcomeOf({ attempts = 1, isOpen = true, takes = () => true }: Case) {
  const outcome = { stored: [] as unknown[], asked: 0, released: [] as number[] }
  const queue: LineQueue = {
    isOpen: async () => isOpen,
    finish: async (_batch, _line, result) => {
      if (!takes(result)) throw new Error('out of range')
      outcome.stored.push(JSON.parse(result.text.toString()))
      return true
    },
    release: async (_batch, lines) => void outcome.released.push(...lines),
    open: absent,
    claim: absent,
    renew: absent,
    retry: absent,
    logged: absent,
    ending: absent,
    ended: absent,
    hold: absent,
    leave: absent,
    close: absent,
  }
  const files: FileStore = {
    async *read() {
      yield input
    },
    begin: absent,
    left: absent,
    get: absent,
    list: absent,
    remove: absent,
  }
  const means: HeldMeans = {
    queue,
    files,
    async perform() {
      outcome.asked += 1
      return { requestId: 'r', status: 200, statusText: 'OK', headers: [], trailers: () => [], body: Readable.from([Buffer.from('{}')]) }
    },
    report() {},
    counts: { done: 0, failed: 0, repeated: 0 },
  }
  const line = { line: 1, customId: 'mine', start: 0, bytes: input.length, attempts, failures: 0, begunAt: 0, isDoubtful: false }
  await runHeld(means, { batch, line }, new AbortController().signal)
  return outcome
}

test('a line whose result is never stored ends as a failure', async (t) => {
  t.timeout(60_000)
  const { stored, asked } = await outcomeOf({ takes: ({ failed }) => failed })
  t.is(asked, 1)
  t.like(stored, [{ custom_id: 'mine', error: { code: 'result_not_stored' } }])
})

test('a line that no process ended is begun no more', async (t) => {
  const { stored, asked } = await outcomeOf({ attempts: 21 })
  t.is(asked, 0)
  t.like(stored, [{ custom_id: 'mine', error: { code: 'line_given_up' } }])
  t.is((await outcomeOf({ attempts: 20 })).asked, 1)
})

test('a line of a batch that was cancelled while it waited is given back, and its provider is not asked', async (t) => {
  t.deepEqual(await outcomeOf({ isOpen: false }), { stored: [], asked: 0, released: [1] })
})
