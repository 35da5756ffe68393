import test from 'ava'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { WebSocket } from 'ws'
import { storeProvider } from '../../support/admin.ts'
import { inDatabase } from '../../support/database.ts'
import { startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { atNight } from '../../support/size.ts'
import { startRealtime } from '../../support/sockets/realtime-emulator.ts'

const rounds = atNight(10, 4)
const sessionsOfRound = atNight(20, 12)

/** One client that asks for turn after turn until its connection breaks. */
interface Sessioned {
  /** Of all its rows. */
  readonly trace: string
  asked: number
  /** Turns whose last event has come. */
  acknowledged: number
}

function hold({ origin }: Gatehouse, isRealtime: boolean): Sessioned {
  const session: Sessioned = { trace: randomUUID(), asked: 0, acknowledged: 0 }
  const headers = {
    'x-service-api-key': workspaceKey,
    'x-service-provider': isRealtime ? '@voice' : '@emulated',
    'x-service-trace-id': session.trace,
  }
  const path = isRealtime ? '/v1/realtime?model=gpt-realtime' : '/v1/responses'
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, { headers })
  const ask = (): void => {
    session.asked += 1
    socket.send(JSON.stringify({ type: 'response.create', ...(!isRealtime && { model: 'gpt-4o', input: 'hi' }) }))
  }
  socket.on('open', ask)
  socket.on('error', () => {})
  socket.on('message', (data: Buffer) => {
    const { type } = JSON.parse(data.toString()) as { type: string }
    if (type !== 'response.completed' && type !== 'response.done') return
    session.acknowledged += 1
    ask()
  })
  return session
}

interface Row {
  readonly trace_id: string
  readonly turns: number
  readonly ids: number
}

test(`${rounds} times kill -9 in ${sessionsOfRound} sessions: each acknowledged turn is logged, and none twice`, async (t) => {
  const [emulator, voice, gatehouse] = [await startEmulator({ record: false }), await startRealtime(), await startGatehouse()]
  t.teardown(async () => {
    await gatehouse.stop()
    await emulator.stop()
    await voice.stop()
  })
  await storeProvider(gatehouse.origin, { slug: 'emulated', url: emulator.url })
  await storeProvider(gatehouse.origin, { slug: 'voice', url: voice.url })
  const all: Sessioned[] = []
  for (let round = 0; round < rounds; round += 1) {
    const sessions = Array.from({ length: sessionsOfRound }, (_, at) => hold(gatehouse, at % 2 === 0))
    all.push(...sessions)
    const wanted = sessionsOfRound * (1 + round * 3)
    await eventually(() => sessions.reduce((sum, { acknowledged }) => sum + acknowledged, 0) >= wanted, 30_000, 'turns')
    const exited = once(gatehouse.process, 'exit')
    gatehouse.process.kill('SIGKILL')
    await exited
    await gatehouse.restart()
  }
  const read = () =>
    inDatabase(gatehouse.superuser, async (client) => {
      const { rows } = await client.query<Row>(
        `SELECT trace_id, count(*)::int AS turns, count(DISTINCT id)::int AS ids FROM logs WHERE method = 'POST' AND status = 200 AND outcome = 'complete'
           GROUP BY trace_id`,
      )
      return new Map(rows.map((row) => [row.trace_id, row]))
    })
  await eventually(async () => {
    const rows = await read()
    return all.every(({ trace, acknowledged }) => acknowledged === 0 || (rows.get(trace)?.turns ?? 0) >= acknowledged)
  }, 20_000)
  t.is(await gatehouse.signal('SIGTERM'), 0)
  const rows = await read()
  for (const { trace, asked, acknowledged } of all) {
    const { turns = 0, ids = 0 } = rows.get(trace) ?? {}
    t.is(turns, ids, 'no turn has two rows')
    t.true(turns >= acknowledged && turns <= asked, `${turns} rows of ${acknowledged} acknowledged and ${asked} asked turns`)
  }
  t.log(`${all.reduce((sum, { acknowledged }) => sum + acknowledged, 0)} turns of ${all.length} sessions were acknowledged`)
})
