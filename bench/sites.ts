// The places where Gatehouse makes its objects: bytes a request by function, in each of its threads, and the CPU of each. `--top 40`, `--id b` for
// another subject, `--hits` for cache hits.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { z } from 'zod'
import { startEmbedded } from '../src/app/database/embedded/embedded.ts'
import type { LoadResult } from './driver.ts'
import { aimsAt, ask, connections } from './measure.ts'
import { cpuByThread, launch, portOf, type Running } from './processes.ts'
import { askingOf, buildGatehouse, subjects, type Stand } from './subjects.ts'

const { values: options } = parseArgs({
  options: {
    top: { type: 'string', default: '40' },
    id: { type: 'string', default: 'c' },
    hits: { type: 'boolean', default: false },
  },
})

interface Node {
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly selfSize: number
  readonly children: readonly Node[]
}

/** Adds up the bytes by function. */
function collect({ callFrame, selfSize, children }: Node, sums: Map<string, number>): number {
  const { functionName, url, lineNumber } = callFrame
  const place = `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`
  sums.set(place, (sums.get(place) ?? 0) + selfSize)
  return children.reduce((sum, child) => sum + collect(child, sums), selfSize)
}

function print(file: string, answers: number): void {
  const { head }: { head: Node } = JSON.parse(readFileSync(file, 'utf8'))
  const sums = new Map<string, number>()
  const total = collect(head, sums)
  console.log(`\n${basename(file)}: ${(total / answers / 1024).toFixed(1)} KB a request`)
  const top = [...sums].toSorted(([, a], [, b]) => b - a).slice(0, Number(options.top))
  for (const [place, bytes] of top)
    console.log(`${String(Math.round(bytes / answers)).padStart(7)}  ${((bytes / total) * 100).toFixed(1).padStart(5)} %  ${place}`)
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-sites-'))
const stops: (() => Promise<void>)[] = []

async function run(): Promise<void> {
  buildGatehouse()
  const database = await startEmbedded({ dataDir: join(folder, 'database'), log: pino({ level: 'silent' }) })
  stops.push(() => database.stop())
  const child = (name: string): Running => {
    const running = launch({ name, command: ['node', join(import.meta.dirname, `${name}.ts`)], cores: '0', folder, channel: true })
    stops.push(() => running.stop())
    return running
  }
  const stand: Stand = { emulatorPort: await portOf(child('emulator')), database, folder, cores: '1' }
  const tools = { driver: child('driver'), answers: new Map<number, number>() }
  const subject = subjects.find(({ id }) => id === options.id)
  if (subject === undefined) throw new Error(`there is no subject ${options.id}`)
  const { running, port, probe } = await subject.start(stand)
  stops.push(() => running.stop())
  await subject.prepare?.(stand, port)
  const { json, hit } = aimsAt(port, askingOf(subject, stand))
  const aim = options.hits && hit !== null ? hit : json
  const load = (durationMs: number) => ask<LoadResult>(tools, { kind: 'load', aim, connections, durationMs })
  await load(6000)
  await probe?.ask({ do: 'watch' }, z.unknown())
  const before = cpuByThread(running.pid)
  const plain = await load(4000)
  for (const [thread, micros] of cpuByThread(running.pid)) {
    const used = (micros - (before.get(thread) ?? 0)) / plain.answers
    if (used >= 0.5) console.log(`${used.toFixed(1).padStart(7)}  µs of CPU a request in thread ${thread}`)
  }
  const made = await probe?.ask({ do: 'allocated' }, z.object({ main: z.number(), others: z.array(z.number()) }))
  await probe?.ask({ do: 'sample' }, z.unknown())
  const { answers } = await load(6000)
  await new Promise((resolve) => setTimeout(resolve, 2000))
  const files = await probe?.ask({ do: 'sites', folder }, z.object({ main: z.string(), others: z.array(z.string()) }))
  if (made === undefined || files === undefined) throw new Error('it has no probe')
  for (const file of [files.main, ...files.others]) print(file, answers)
  const kilobytes = (bytes: number) => (bytes / plain.answers / 1024).toFixed(1)
  console.log(`\nbetween collections: ${kilobytes(made.main)} KB in the main thread, ${made.others.map(kilobytes).join(', ')} in others`)
}

try {
  await run()
} finally {
  for (const stop of stops.toReversed()) await stop().catch(() => {})
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
