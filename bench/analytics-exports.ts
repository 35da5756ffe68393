import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './analytics-bench.ts'

/** An export as it was made and downloaded; memory is the resident set of the process, in megabytes. */
export interface ExportFigures {
  readonly rows: number
  readonly bytes: number
  readonly seconds: number
  readonly downloadSeconds: number
  readonly before: number
  /** The most of each fifth of the time in which it was made. */
  readonly fifths: readonly number[]
  readonly whileDownloaded: number
}

const residentOf = ({ gatehouse }: Bench): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gatehouse.process.pid}/status`, 'utf8'))?.[1]) / 1024

/** Exports the logs since a time with their requests, as JSON lines. */
export async function measureExport(bench: Bench, since: number): Promise<ExportFigures> {
  const filters = { time_of_generation_min: new Date(since).toISOString() }
  const wanted = { filters, requested_data: ['id', 'created_at', 'ai_model', 'cost', 'metadata', 'request'], format: 'jsonl' }
  const before = residentOf(bench)
  const startedAt = performance.now()
  const drafted = await bench.ask('/logs/exports', { method: 'POST', body: wanted })
  const path = `/logs/exports/${String(drafted.body['id'])}`
  await bench.ask(`${path}/start`, { method: 'POST' })
  const memory: number[] = []
  let made = await bench.ask(path)
  while (made.body['status'] === 'in_progress') {
    await sleep(500)
    memory.push(residentOf(bench))
    made = await bench.ask(path)
  }
  if (made.body['status'] !== 'success') throw new Error(JSON.stringify(made.body))
  const seconds = (performance.now() - startedAt) / 1000
  const downloadedAt = performance.now()
  const whileDownloaded = await download(bench, path)
  return {
    rows: Number(made.body['rows']),
    bytes: Number(made.body['bytes']),
    seconds,
    downloadSeconds: (performance.now() - downloadedAt) / 1000,
    before,
    fifths: [0, 1, 2, 3, 4].map((fifth) =>
      Math.max(...memory.slice(Math.floor((fifth * memory.length) / 5), Math.ceil(((fifth + 1) * memory.length) / 5))),
    ),
    whileDownloaded,
  }
}

/** Reads the whole file; returns the most memory of the process meanwhile. */
async function download(bench: Bench, path: string): Promise<number> {
  const { body } = await bench.ask(`${path}/download`)
  const { pathname, search } = new URL(String(body['signed_url']))
  const file = await fetch(`${bench.gatehouse.origin}${pathname}${search}`)
  let [most, chunks] = [0, 0]
  for await (const _ of file.body ?? []) if (chunks++ % 256 === 0) most = Math.max(most, residentOf(bench))
  return most
}
