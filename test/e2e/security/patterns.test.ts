import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'
import { adminKey, type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { nightly } from '../../support/size.ts'

let emulator: Emulator
let gatehouse: Gatehouse

test.before(async () => {
  emulator = await startEmulator()
  gatehouse = await startGatehouse()
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
})

const seconds = nightly ? 60 : 4
const senders = 4

let made = 0
/** New patterns: many instructions, classes of thousands of ranges, classes that ignore case, many states. */
const kinds: readonly ((seed: string) => string)[] = [
  (seed) => `${seed}(?:ab?c){900}(?:d?e){300}`,
  (seed) => `(?i)${seed}${'[b-\\x{1e920}]'.repeat(60)}`,
  (seed) => `${seed}${'\\pL|'.repeat(200)}x`,
  (seed) => `(?:.*[a-f]){60}${seed}`,
  (seed) => `[a-q][^u-z]{13}${seed}`,
  (seed) => `${seed}\\d{3}-\\d{4}`,
]
const pattern = (): string => kinds[made % kinds.length]?.(`x${(made += 1)}`) ?? ''
const little = (): string => kinds[4 + (made % 2)]?.(`x${(made += 1)}`) ?? ''

const checksOf = (patterns: readonly string[]) => patterns.map((rule) => ({ id: 'default.regexMatch', parameters: { rule, not: true } }))

const text = Array.from({ length: 700 }, (_, at) => `abc def xyz ${(at * 7919).toString(36)}`).join(' ')

/** A request with a config of its own: 50 checks and more, which no other has. */
const withConfig = (patterns: readonly string[]) => () =>
  send(`${gatehouse.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      'x-service-config': JSON.stringify({ input_guardrails: [{ checks: checksOf(patterns) }, { checks: checksOf([little()]) }] }),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
  })

const stored = (patterns: readonly string[]) => () =>
  send(`${gatehouse.origin}/v1/guardrails`, {
    method: 'POST',
    headers: { 'x-service-api-key': adminKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `g${made}`, checks: checksOf(patterns), actions: { onFail: 'block' } }),
  })

const list = (count: number, one: () => string) => Array.from({ length: count }, one)

/** One after the other, as different as they come. */
const attacks: readonly (() => Promise<{ readonly status: number }>)[] = [
  () => withConfig(list(50, pattern))(),
  () => withConfig(list(50, little))(),
  () => withConfig(list(3, pattern))(),
  () => stored(list(50, pattern))(),
  () => stored(list(50, little))(),
]

const rssOf = (gate: Gatehouse): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gate.process.pid}/status`, 'utf8'))?.[1]) / 1024

/** How long its main thread has computed, in ms, without the time that a busy machine takes from it. */
function computedMs(gate: Gatehouse): number {
  const { pid } = gate.process
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

test.serial(`hostile configs and guardrails for ${seconds} s fill no memory and hold nobody up`, async (t) => {
  // A process takes some memory for traffic of any kind; that is not tested here.
  const usual = withConfig(list(50, little))
  for (let at = 0; at < (nightly ? 400 : 100); at += 1) await usual()
  for (const attack of attacks) await attack()
  const from = rssOf(gatehouse)
  const until = performance.now() + seconds * 1000
  const statuses = new Map<number, number>()
  const attacking = Array.from({ length: senders }, async (_, sender) => {
    for (let at = sender; performance.now() < until; at += 1) {
      const { status } = await (attacks[at % attacks.length] ?? stored([]))()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  let [most, computed] = [from, 0]
  const waited: number[] = []
  while (performance.now() < until) {
    const [startedAt, before] = [performance.now(), computedMs(gatehouse)]
    t.is((await send(`${gatehouse.origin}/healthz`)).status, 200)
    waited.push(performance.now() - startedAt)
    computed = Math.max(computed, computedMs(gatehouse) - before)
    most = Math.max(most, rssOf(gatehouse))
    await sleep(20)
  }
  await Promise.all(attacking)
  const memory = `${Math.round(from)} -> ${Math.round(most)} MB`
  const sorted = waited.toSorted((one, other) => one - other)
  const at = (share: number) => `${Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? NaN)} ms`
  t.log(
    `${memory}; /healthz waited for ${computed} ms of work at most; on this machine p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)}`,
    Object.fromEntries(statuses),
  )
  t.true(most - from < 100, memory)
  t.true(computed <= 100, `${computed} ms`)
  t.true((statuses.get(200) ?? 0) > 0, 'what is within bounds works on')
})
