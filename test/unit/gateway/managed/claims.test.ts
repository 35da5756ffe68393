// Organisations share the places for lines, also when the lines of one never end.
import test from 'ava'
import type { ClaimedLine, LineQueue, OpenBatch } from '../../../../src/gateway/managed/batch-store.ts'
import { claim, type ClaimState, isClaimDue, takeNext } from '../../../../src/gateway/managed/claims.ts'

const batchOf = (organisationId: string): OpenBatch => ({
  id: `batch of ${organisationId}`,
  organisationId,
  workspaceId: null,
  apiKeyId: 'k',
  endpoint: '/v1/chat/completions',
  inputFileId: 'f',
  clientAddress: '127.0.0.1',
  headers: [],
  expiresAt: Infinity,
})
const lineAt = (line: number): ClaimedLine => ({
  line,
  customId: `c${line}`,
  start: 0,
  bytes: 1,
  attempts: 1,
  failures: 0,
  begunAt: 0,
  isDoubtful: false,
})
const absent = () => Promise.reject(new Error('No test asks for it.'))

/** A process before batches whose lines never come to an end. */
function process(atOnce: number) {
  const open = new Set<string>()
  const queue: LineQueue = {
    open: async () => [...open].map(batchOf),
    claim: async (_, most) => Array.from({ length: most }, (_none, at) => lineAt(at)),
    renew: absent,
    finish: absent,
    retry: absent,
    isOpen: absent,
    release: absent,
    logged: absent,
    ending: absent,
    ended: absent,
    hold: absent,
    leave: absent,
    close: absent,
  }
  const state: ClaimState = {
    queue,
    atOnce,
    ready: [],
    running: new Map(),
    stopping: new AbortController(),
    claimsAt: 0,
    readyShare: atOnce,
    more: new Set(),
    report() {},
  }
  return {
    open,
    state,
    /** Looks once, begins what may begin, and returns how many lines of each organisation run. */
    turn: async (places = atOnce): Promise<Record<string, number>> => {
      await claim(state)
      for (let next = takeNext(state, places); next !== null; next = takeNext(state, places)) state.running.set(next, Promise.resolve())
      return Object.fromEntries(
        Map.groupBy(state.running.keys(), ({ batch }) => batch.organisationId)
          .entries()
          .map(([id, all]) => [id, all.length]),
      )
    },
    end: (organisationId: string): void => {
      for (const one of state.running.keys()) if (one.batch.organisationId === organisationId) state.running.delete(one)
    },
  }
}

test('lines of one organisation that hang leave places, and lines of another end in them', async (t) => {
  const { open, turn, end } = process(16)
  open.add('hostile')
  t.deepEqual(await turn(), { hostile: 12 })
  open.add('other')
  for (let look = 0; look < 10; look += 1) {
    t.deepEqual(await turn(), { hostile: 12, other: 4 })
    end('other')
  }
})

test('what runs beyond a share, since the places became fewer, takes no place from others', async (t) => {
  const { open, turn } = process(16)
  open.add('hostile')
  await turn()
  open.add('other')
  t.deepEqual(await turn(8), { hostile: 12, other: 2 })
  t.deepEqual(await turn(0), { hostile: 12, other: 2 })
})

test('organisations whose lines end have equal places', async (t) => {
  const { open, turn, end } = process(16)
  open.add('one')
  await turn()
  open.add('two').add('three').add('four')
  await turn()
  end('one')
  for (const [id, lines] of Object.entries(await turn())) t.true(lines >= 3 && lines <= 5, `${id}: ${lines}`)
})

test('no more lines run than a process may have, and lines are claimed in blocks', async (t) => {
  const { open, turn, state } = process(2)
  for (let organisation = 0; organisation < 20; organisation += 1) open.add(`o${organisation}`)
  for (let look = 0; look < 5; look += 1) await turn()
  t.is(state.running.size, 2)
  t.true(state.ready.length <= 4)
  const alone = process(16)
  alone.open.add('one')
  await alone.turn()
  t.true(isClaimDue(alone.state), 'few are left')
  await claim(alone.state)
  t.false(isClaimDue(alone.state), 'a block is there')
})
