import { cpus } from 'node:os'
import type { Spread } from './analytics-bench.ts'
import type { ExportFigures } from './analytics-exports.ts'
import type { Ingest } from './analytics-ingest.ts'
import type { RetentionFigures, Waits } from './analytics-retention.ts'
import type { SearchFigures } from './analytics-search.ts'

/** Everything that was measured. */
export interface Figures {
  readonly rows: number
  readonly days: number
  readonly prepared: Prepared
  readonly answers: readonly (readonly [kind: string, what: string, times: Spread])[]
  readonly ingest: Ingest
  readonly search: SearchFigures
  readonly exported: ExportFigures
  readonly retention: RetentionFigures
  readonly load: number
  readonly minutes: number
}

interface Prepared {
  readonly filled: number
  readonly settled: number
  readonly sizes: { readonly logs: number; readonly rollUps: number; readonly rows: number }
}

const shown = (ms: number) => (ms === Infinity ? '503' : ms.toFixed(0))
const whole = (count: number) => Math.round(count).toLocaleString('en')
const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`
const worst = ({ answers }: Figures, kind: string) => Math.max(...answers.filter(([of]) => of === kind).map(([, , { p95 }]) => p95))

const line = (what: string, target: string, measured: string, reached: boolean) => row(what, target, measured, reached ? 'yes' : 'no')

/** The promise, the measurement, and whether it holds. */
function targets(figures: Figures): readonly string[] {
  const { ingest, exported, retention } = figures
  const rollUps = worst(figures, 'from roll-ups')
  const lists = worst(figures, 'lists')
  const [first = NaN, , , , last = NaN] = exported.fifths
  return [
    line('slowest p95 of graphs and groups from roll-ups, ms', 'at most 1000', shown(rollUps), rollUps <= 1000),
    line('p95 of the list of logs over all pairs of filters, ms', 'at most 300', shown(lists), lists <= 300),
    line('rows a second into the database, with roll-ups', 'at least 5000', whole(ingest.withRollUps), ingest.withRollUps >= 5000),
    line(
      'memory of the last fifth of an export over that of the first, MB',
      'at most 50 more',
      (last - first).toFixed(0),
      last - first <= 50,
    ),
    line(
      'longest wait for a list while days are dropped, ms',
      'at most 600 more than before',
      `${shown(retention.meanwhile.list)} (before: ${shown(retention.before.list)})`,
      retention.meanwhile.list <= retention.before.list + 600,
    ),
  ]
}

const waits = (what: string, { request, list, graph }: Waits) => row(what, shown(request), shown(list), shown(graph))

/** Returns the page `bench/ANALYTICS.md`. */
export function reportOf(figures: Figures): string {
  const { rows, days, prepared, answers, ingest, search, exported, retention, load, minutes } = figures
  const { rare, frequent, indexed } = search
  return `# Benchmark of analytics

Made by \`npm run bench:analytics -- --write\`; do not edit.

${whole(rows)} logs of ${days} days in ten workspaces, with 100 keys, 12 models and 20,000 users: ${prepared.sizes.logs.toFixed(0)} MB with their indexes, and
${prepared.sizes.rollUps.toFixed(0)} MB of roll-ups (${whole(prepared.sizes.rows)} rows of hours). The latest tenth of them has bodies of a kilobyte. They were inserted with their roll-ups in ${prepared.filled.toFixed(0)} s; latencies and users
of the days were settled in ${prepared.settled.toFixed(0)} s. The process, PostgreSQL and the driver share ${cpus().length} cores.

${[row('', 'target', 'measured', 'reached'), '| --- | ---: | ---: | --- |', ...targets(figures)].join('\n')}

## Questions

Each is about all ${days} days and, where no workspace is named, about the whole organisation. Milliseconds, over HTTP, one at a time;
503: the database took longer than an answer may take.

| | | p50 | p95 | max |
| --- | --- | ---: | ---: | ---: |
${answers.map(([kind, what, { p50, p95, max }]) => row(kind, what, shown(p50), shown(p95), shown(max))).join('\n')}

## Ingest

Records that wait in the journal, with small bodies:

| | rows a second |
| --- | ---: |
${[
  row('with roll-ups', whole(ingest.withRollUps)),
  row('without', whole(ingest.without)),
  row('with, while graphs and lists are asked for', whole(ingest.whileAsked)),
  row('with, and bodies of a kilobyte', whole(ingest.withBodies)),
  row('the same with the index of words', whole(ingest.withWords)),
].join('\n')}

The answers that were asked for meanwhile took ${shown(ingest.meanwhile.p50)} ms (p50), ${shown(ingest.meanwhile.p95)} ms (p95), ${shown(ingest.meanwhile.max)} ms at most.

## Search in bodies

A page of what nearly every body says: ${shown(frequent.p50)} ms (p50), ${shown(frequent.p95)} ms (p95). All of what one body in 100,000 says, in the ${whole(rows / 10)} logs that
have bodies: ${rare.found} found in ${(rare.ms / 1000).toFixed(1)} s over ${rare.answers} answers, of which the longest took ${shown(rare.longest)} ms; ${whole((rare.read * 1000) / rare.ms)} bodies a second.

With the index of words, in ${whole(indexed.logs)} logs: ${indexed.found} found in ${indexed.ms.toFixed(0)} ms over ${indexed.answers} answers, for which ${indexed.read} bodies were read.

## An export

${whole(exported.rows)} logs with their requests as JSON lines, ${whole(exported.bytes / 1e6)} MB, made in ${exported.seconds.toFixed(0)} s, downloaded in ${exported.downloadSeconds.toFixed(0)} s. Resident memory of the process in MB:

| before | 1st fifth | 2nd | 3rd | 4th | 5th | download |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${row(...[exported.before, ...exported.fifths, exported.whileDownloaded].map((megabytes) => megabytes.toFixed(0)))}

## Retention

${retention.days} days of logs are dropped, one after the other, in ${(retention.ms / 1000).toFixed(1)} s, while 50 requests a second are served, lists and graphs are asked for, and a
query of several seconds runs again and again. The longest waits in milliseconds:

| | a request | a list | a graph |
| --- | ---: | ---: | ---: |
${waits('in 15 seconds before', retention.before)}
${waits('while days are dropped', retention.meanwhile)}

Machine: ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.versions.node}; load average before the run ${load.toFixed(1)}${load > 1 ? ' (too busy for times to be trusted: run it again on a quiet machine)' : ''}; ${minutes.toFixed(0)} minutes in all.
`
}
