// Memory over many requests through the whole product: `npm run bench:soak`. `--write` stores bench/SOAK.md, `--snapshots <folder>` keeps
// heap snapshots of both threads from before and after.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startDatabaseServer } from '../scripts/database-server.ts'
import { slope, startSoak, type Sample } from './soaking.ts'

const { values: options } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    requests: { type: 'string', default: '200000' },
    'warm-up': { type: 'string', default: '50000' },
    snapshots: { type: 'string' },
  },
})
const [requests, warmUp] = [Number(options.requests), Number(options['warm-up'])]
const samples = 10
const most = 1
const say = (text: string) => console.log(text)

const database = await startDatabaseServer()
Object.assign(process.env, database.variables)
const soak = await startSoak()
try {
  say(`warming up with ${warmUp} requests`)
  await soak.run({ requests: warmUp, samples: 1 })
  await snapshot('before')
  const startedAt = performance.now()
  const taken = await soak.run({ requests, samples })
  const seconds = (performance.now() - startedAt) / 1000
  await snapshot('after')
  const page = report(taken, seconds)
  say(page)
  if (options.write) writeFileSync(join(import.meta.dirname, 'SOAK.md'), page)
} finally {
  await soak.stop()
  await database.stop()
}

async function snapshot(when: string): Promise<void> {
  if (options.snapshots === undefined) return
  const folder = join(options.snapshots, when)
  mkdirSync(folder, { recursive: true })
  await soak.snapshot(folder)
}

function report(taken: readonly Sample[], seconds: number): string {
  return `# Memory over many requests

Made by \`npm run bench:soak -- --write\`; do not edit.

| MB per 100,000 requests | target | measured | reached |
| --- | ---: | ---: | --- |
| what is alive | ${verdict(slope(taken, 'alive'))} |
| resident memory | ${verdict(slope(taken, 'resident'))} |

| requests | alive MB | resident MB |
| ---: | ---: | ---: |
${taken.map((sample) => `| ${sample.requests.toLocaleString('en')} | ${sample.alive.toFixed(2)} | ${sample.resident.toFixed(1)} |`).join('\n')}

${requests.toLocaleString('en')} requests in ${Math.round(seconds)} s after ${warmUp.toLocaleString('en')} to warm up, over 16 connections that are replaced after 500 requests each: of twenty requests four are
streams, and one each is refused (an unknown key), failed by the provider, and guarded. One process with the flags of \`npm start\` on a real
PostgreSQL, with keys, stored credential, log rows and the shipper. Alive is what the objects of the main thread and of the journal's
thread take after full collections, with their buffers. Each figure is the mean of the middle half of the stretches between two samples: a step,
as when V8 drops old code, is no slope. The same runs as \`test/e2e/soak\`: in full with \`NIGHTLY=1\`, else in short form.

Machine: ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.versions.node}.
`
}

function verdict(grown: number): string {
  return `at most ${most} | ${grown.toFixed(2)} | ${grown <= most ? 'yes' : 'no'}`
}
