// The cost of limits (`--of f`, a key with a budget in dollars and a rate limit) or translation (`--of g`) for a request: one process is asked with
// them and without, in short rounds that take turns, so that other work of the machine falls on both. `--rounds 200` of `--ms 250`, `--top 40`
// functions whose time differs, `--build`. `--of c` asks without twice, and shows how far the machine itself is from even.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { z } from 'zod'
import { startEmbedded } from '../src/app/database/embedded/embedded.ts'
import type { Aim, LoadResult } from './driver.ts'
import { aimsAt, ask, connections } from './measure.ts'
import type { Probe } from './probe.ts'
import { cpuMicros, launch, portOf, type Running } from './processes.ts'
import { askingOf, buildGatehouse, subjects, type Stand } from './subjects.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    ms: { type: 'string', default: '250' },
    top: { type: 'string', default: '0' },
    of: { type: 'string', default: 'f' },
    build: { type: 'boolean', default: true },
  },
  allowNegative: true,
})

const roundMs = Number(options.ms)

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string; readonly url: string } }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Adds the microseconds of each function of a profile to sums. */
function addTimes(file: string, sums: Map<string, number>): void {
  const { nodes, samples, timeDeltas }: Profile = JSON.parse(readFileSync(file, 'utf8'))
  const places = new Map(
    nodes.map(({ id, callFrame: { functionName, url } }) => [id, `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}`]),
  )
  for (const [at, id] of samples.entries()) {
    const place = places.get(id) ?? ''
    sums.set(place, (sums.get(place) ?? 0) + (timeDeltas[at] ?? 0))
  }
}

/** CPU time of the main thread of a process, in microseconds. taskset becomes the process that it starts. */
const mainThreadMicros = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000

/** Its part outside the kernel, in steps of 10 ms: the part for the network depends on how busy the other core is. */
function ownMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[11]) * 10_000
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pairs-'))
const stops: (() => Promise<void>)[] = []

interface Side {
  readonly aim: Aim
  readonly cpu: number[]
  readonly main: number[]
  readonly own: number[]
  readonly kilobytes: number[]
  readonly times: Map<string, number>
  answers: number
}

const sideOf = (aim: Aim): Side => ({ aim, cpu: [], main: [], own: [], kilobytes: [], times: new Map(), answers: 0 })
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

async function run(): Promise<void> {
  if (options.build) buildGatehouse()
  const database = await startEmbedded({ dataDir: join(folder, 'database'), log: pino({ level: 'silent' }) })
  stops.push(() => database.stop())
  const child = (name: string): Running => {
    const running = launch({ name, command: ['node', join(import.meta.dirname, `${name}.ts`)], cores: '0', folder, channel: true })
    stops.push(() => running.stop())
    return running
  }
  const stand: Stand = { emulatorPort: await portOf(child('emulator')), database, folder, cores: '1' }
  const tools = { driver: child('driver'), answers: new Map<number, number>() }
  const [plain, dearer] = ['c', options.of].map((id) => subjects.find((subject) => subject.id === id))
  if (plain === undefined || dearer === undefined) throw new Error('a subject is missing')
  const { running, port, probe } = await plain.start(stand)
  stops.push(() => running.stop())
  await plain.prepare?.(stand, port)
  if (dearer !== plain) await dearer.prepare?.(stand, port)
  const sides = [plain, dearer].map((subject) => sideOf(aimsAt(port, askingOf(subject, stand)).json))
  const load = (aim: Aim, durationMs: number) => ask<LoadResult>(tools, { kind: 'load', aim, connections, durationMs })
  for (let turn = 0; turn < 3; turn += 1) for (const { aim } of sides) await load(aim, 3000)

  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const before = cpuMicros(running.pid)
      const mainBefore = mainThreadMicros(running.pid)
      const ownBefore = ownMicros(running.pid)
      const { answers } = await load(side.aim, roundMs)
      side.cpu.push((cpuMicros(running.pid) - before) / answers)
      side.main.push((mainThreadMicros(running.pid) - mainBefore) / answers)
      side.own.push((ownMicros(running.pid) - ownBefore) / answers)
    }
  }
  for (let round = 0; round < 3; round += 1) for (const side of sides) side.kilobytes.push(await allocated(side, { probe, load }))
  if (Number(options.top) > 0) for (let round = 0; round < 6; round += 1) for (const side of sides) await profile(side, { probe, load })
  print(sides)
}

interface Loading {
  readonly probe: Probe | null
  readonly load: (aim: Aim, durationMs: number) => Promise<LoadResult>
}

async function allocated({ aim }: Side, { probe, load }: Loading): Promise<number> {
  await probe?.ask({ do: 'watch' }, z.unknown())
  const { answers } = await load(aim, 3000)
  const made = await probe?.ask({ do: 'allocated' }, z.object({ main: z.number() }))
  return (made?.main ?? Number.NaN) / answers / 1024
}

async function profile(side: Side, { probe, load }: Loading): Promise<void> {
  await probe?.ask({ do: 'time' }, z.unknown())
  const { answers } = await load(side.aim, 2000)
  const files = await probe?.ask({ do: 'timed', folder }, z.object({ main: z.string() }))
  if (files !== undefined) addTimes(files.main, side.times)
  side.answers += answers
}

function print([plain, dearer]: readonly Side[]): void {
  if (plain === undefined || dearer === undefined) return
  for (const [what, one, other] of [
    ['all threads', plain.cpu, dearer.cpu],
    ['main thread', plain.main, dearer.main],
    ['main thread, without the kernel', plain.own, dearer.own],
  ] as const) {
    const more = other.map((cpu, at) => cpu - (one[at] ?? Number.NaN)).toSorted((a, b) => a - b)
    const at = (share: number): string => (more[Math.floor(more.length * share)] ?? Number.NaN).toFixed(1)
    console.log(`${what}: CPU µs a request ${median(one).toFixed(1)} without, ${median(other).toFixed(1)} with`)
    const kept = more.slice(Math.floor(more.length / 10), Math.ceil(more.length * 0.9))
    const mean = kept.reduce((sum, cpu) => sum + cpu, 0) / kept.length
    const error = Math.sqrt(kept.reduce((sum, cpu) => sum + (cpu - mean) ** 2, 0) / kept.length / kept.length)
    console.log(`  difference of pairs: median ${at(0.5)}, quartiles ${at(0.25)} to ${at(0.75)}, of ${more.length} pairs`)
    console.log(`  mean without the outer tenths ${mean.toFixed(1)}, give or take ${error.toFixed(1)}`)
  }
  console.log(`KB a request, main thread: ${median(plain.kilobytes).toFixed(2)} and ${median(dearer.kilobytes).toFixed(2)}`)
  const places = new Set([...plain.times.keys(), ...dearer.times.keys()])
  const differences = [...places].map((place) => {
    const [one, other] = [plain, dearer].map(({ times, answers }) => (times.get(place) ?? 0) / answers)
    return { place, one: one ?? 0, other: other ?? 0, more: (other ?? 0) - (one ?? 0) }
  })
  for (const { place, one, other, more: by } of differences.toSorted((a, b) => b.more - a.more).slice(0, Number(options.top)))
    console.log(`${by.toFixed(2).padStart(7)}  ${one.toFixed(2).padStart(6)} -> ${other.toFixed(2).padStart(6)}  ${place}`)
}

try {
  await run()
} finally {
  for (const stop of stops.toReversed()) await stop().catch(() => {})
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
