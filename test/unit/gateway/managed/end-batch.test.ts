// The end of a batch: at the one process that holds it, and without its input.
import { mock } from 'node:test'
import test from 'ava'
import { type EndedLine, type EndingBatch, endingMs, type LineQueue } from '../../../../src/gateway/managed/batch-store.ts'
import { endBatch } from '../../../../src/gateway/managed/end-batch.ts'
import type { FileStore, NewFile } from '../../../../src/gateway/managed/file-store.ts'

const batch: EndingBatch = {
  id: `batch_gw${'0'.repeat(36)}`,
  organisationId: 'o',
  workspaceId: null,
  apiKeyId: 'k',
  userId: null,
  endpoint: '/v1/chat/completions',
  inputFileId: 'f',
  clientAddress: '127.0.0.1',
  headers: [],
  expiresAt: 0,
  outputSeconds: 3600,
  outcome: 'cancelled',
}
const absent = () => Promise.reject(new Error('No test asks for it.'))
const unrunLine = (line: number): EndedLine => ({ line, customId: `c${line}`, failed: true, result: null })

interface Case {
  readonly pages: readonly (readonly EndedLine[])[]
  /** The answers to the renewals of the claim. */
  readonly holds?: () => Promise<boolean>
  /** Called before each page. */
  readonly onPage?: (page: number) => Promise<void>
}

/** Returns what is written by the end of a batch, and the calls of its queue. */
function ending({ pages, holds = async () => true, onPage = async () => {} }: Case) {
  const written = new Map<string, string>()
  const calls: string[] = []
  let page = 0
  const queue: LineQueue = {
    async ended() {
      await onPage(page)
      return pages[page++] ?? []
    },
    hold: () => (calls.push('hold'), holds()),
    leave: async () => void calls.push('leave'),
    close: async (_batch, files) => void calls.push(`close ${files.output} ${files.error}`),
    open: absent,
    claim: absent,
    renew: absent,
    finish: absent,
    retry: absent,
    isOpen: absent,
    release: absent,
    logged: absent,
    ending: absent,
  }
  const files: FileStore = {
    begin: async (_owner, { name }: NewFile) => ({
      write: async (piece) => void written.set(name, (written.get(name) ?? '') + piece.toString()),
      flush: async () => name.replace(/^.*_/, ''),
      commit: absent,
      abandon: absent,
    }),
    // Lines that never ran are reported without the input, which may be long.
    read: () => {
      throw new Error('No test asks for it.')
    },
    left: absent,
    get: absent,
    list: absent,
    remove: absent,
  }
  return { means: { queue, files }, written, calls }
}

const never = new AbortController().signal

test('lines that never ran are reported with their ids, and the input is not read', async (t) => {
  const done: EndedLine = { line: 2, customId: 'c2', failed: false, result: Buffer.from('{"custom_id":"c2"}') }
  const { means, written, calls } = ending({ pages: [[unrunLine(1), done], [unrunLine(3)]] })
  await endBatch(means, batch, never)
  t.deepEqual(calls, ['close output.jsonl error.jsonl'])
  t.is(written.get(`${batch.id}_output.jsonl`), '{"custom_id":"c2"}\n')
  const errors = (written.get(`${batch.id}_error.jsonl`) ?? '').trim().split('\n')
  t.deepEqual(
    errors.map((text) => JSON.parse(text)).map(({ custom_id: id, error }) => [id, error.code]),
    [
      ['c1', 'batch_cancelled'],
      ['c3', 'batch_cancelled'],
    ],
  )
})

for (const [name, holds, isLost] of [
  ['is lost', async () => false, true],
  ['cannot be renewed for a moment', () => Promise.reject(new Error('away')), false],
  ['is renewed', async () => true, false],
] as const)
  test.serial(`a claim that ${name}: the files are ${isLost ? 'left to the process that has it' : 'written'}`, async (t) => {
    mock.timers.enable({ apis: ['setInterval'] })
    t.teardown(() => mock.timers.reset())
    const { means, written, calls } = ending({
      pages: [[unrunLine(1)], [unrunLine(2)], [unrunLine(3)]],
      holds,
      onPage: async (page) => void (page === 1 && mock.timers.tick(endingMs / 2)),
    })
    const ended = endBatch(means, batch, never)
    if (isLost) await t.throwsAsync(ended, { message: /^Another process/ })
    else await ended
    t.is(calls.filter((call) => call === 'hold').length, 3, 'it is renewed by the clock, however long a page takes')
    t.is(
      calls.some((call) => call.startsWith('close')),
      !isLost,
    )
    t.is((written.get(`${batch.id}_error.jsonl`) ?? '').split('\n').length - 1, isLost ? 1 : 3)
  })

test('a process that stops lets another end the batch at once', async (t) => {
  const stopping = new AbortController()
  const { means, calls } = ending({
    pages: [[unrunLine(1)], [unrunLine(2)]],
    onPage: async (page) => void (page === 1 && stopping.abort()),
  })
  await t.throwsAsync(endBatch(means, batch, stopping.signal))
  t.deepEqual(calls, ['leave'])
})
