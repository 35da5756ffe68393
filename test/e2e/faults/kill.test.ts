import test from 'ava'
import { once } from 'node:events'
import { storeProvider } from '../../support/admin.ts'
import { startEmulator } from '../../support/emulator/emulator.ts'
import { chat, type Load, type Outcome, startLoad, succeeded } from '../../support/load.ts'
import { readLogged, untilLogged } from '../../support/logged.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { atNight } from '../../support/size.ts'

const rounds = atNight(20, 8)
const clients = 12

/** Kills come after so many answers of a round: at once, in the middle of a segment, and in the middle of shipping earlier records. */
const killAfter = Array.from({ length: rounds }, (_, round) => [1, 30, 200, 80, 400][round % 5] ?? 1)

function startMixedLoad({ origin }: Gatehouse): Load {
  let asked = 0
  return startLoad({
    clients,
    next() {
      const stream = (asked += 1) % 4 === 0 ? { stream: { frames: 16, everyMs: 1 } } : {}
      return chat(origin, { key: workspaceKey, provider: '@emulated', ...stream })
    },
  })
}

/** `kill -9` in the middle of answers. */
async function killUnderLoad(gatehouse: Gatehouse, after: number): Promise<readonly Outcome[]> {
  const load = startMixedLoad(gatehouse)
  await load.until((outcomes) => outcomes.filter(succeeded).length >= after)
  const exited = once(gatehouse.process, 'exit')
  gatehouse.process.kill('SIGKILL')
  await exited
  return load.stop()
}

test(`${rounds} times kill -9 under load: what was answered is logged, once`, async (t) => {
  const emulator = await startEmulator({ record: false })
  const gatehouse = await startGatehouse()
  t.teardown(async () => {
    await gatehouse.stop()
    await emulator.stop()
  })
  await storeProvider(gatehouse.origin, { slug: 'emulated', url: emulator.url })
  const outcomes: Outcome[] = []
  for (const after of killAfter) {
    outcomes.push(...(await killUnderLoad(gatehouse, after)))
    await gatehouse.restart()
  }
  const answered = outcomes.filter(succeeded)
  const ids = answered.map(({ id }) => id ?? '')
  const tookMs = await untilLogged(gatehouse.superuser, ids, 20_000)
  t.is(await gatehouse.signal('SIGTERM'), 0)
  const logged = await readLogged(gatehouse.superuser, ids)
  t.deepEqual(logged.missing, [])
  t.deepEqual(logged.doubled, [])
  t.deepEqual(logged.unfinished, [])
  t.true(logged.rows <= outcomes.length, 'there are rows that nobody asked for')
  t.is(new Set(ids).size, ids.length)
  const cut = outcomes.length - answered.length
  t.true(cut >= rounds, 'the kills hit nothing')
  t.true(answered.some(({ ask }) => ask.label === 'stream'))
  t.log(
    `${rounds} kills, ${answered.length} answered and ${cut} cut off, ${logged.rows} rows; the last was there after ${Math.round(tookMs)} ms`,
  )
})
