import { z } from 'zod'
import { version } from '../../config/version.ts'
import type { ProcessAnswer, ProcessQuestions } from '../ask-process.ts'
import { readinessAdvice, sealedAdvice } from '../troubleshooting/starts.ts'
import { explained, found, type Trouble } from './trouble.ts'

const Health = z.looseObject({
  service: z.literal('gatehouse'),
  version: z.string(),
  level: z.string().nullable().default(null),
  finalized_level: z.string().nullable().default(null),
})
const Check = z.looseObject({ status: z.enum(['pass', 'warn', 'fail']), detail: z.string().default('') })
const Readiness = z.looseObject({ checks: z.record(z.string(), Check) })

/** Examines a running process by its own answers. */
export async function examineProcess(running: ProcessQuestions, spoolBytes: number): Promise<readonly Trouble[]> {
  const health = await running.ask('/v1/health')
  if (health === null) return [found('process-silent', 'error', running.url)]
  const known = Health.safeParse(toJson(health.text))
  if (!known.success) return [found('process-foreign', 'error', `${running.url}/v1/health answered ${health.status}`)]
  const [readiness, metrics] = [await running.ask('/readyz'), await running.ask('/metrics')]
  return [
    ...releaseTroubles(known.data),
    ...(readiness === null ? [found('process-stalls', 'error', '/readyz')] : readinessTroubles(toJson(readiness.text))),
    ...metricsTroubles(metrics, spoolBytes),
  ]
}

/** Figures that are not public (METRICS_ACCESS) are left out. */
function metricsTroubles(metrics: ProcessAnswer | null, spoolBytes: number): readonly Trouble[] {
  if (metrics?.status === 401 || metrics?.status === 404) return []
  return metrics?.status === 200 ? figureTroubles(metrics.text, spoolBytes) : [found('process-stalls', 'error', '/metrics')]
}

function releaseTroubles({ version: runs, level, finalized_level: finalized }: z.infer<typeof Health>): readonly Trouble[] {
  return [
    ...(runs === version() ? [] : [found('versions-differ', 'warning', `${runs} runs, and this is ${version()}`)]),
    ...(finalized === null || finalized === runs
      ? []
      : [found('level-behind', 'warning', `release ${runs} runs at the level ${level}, and ${finalized} is finalized`)]),
  ]
}

function readinessTroubles(answer: unknown): readonly Trouble[] {
  const { data } = Readiness.safeParse(answer)
  return Object.entries(data?.checks ?? {}).flatMap(([name, { status, detail }]) => {
    if (status === 'pass') return []
    const advice = entry(sealedAdvice, detail) ??
      entry(readinessAdvice, name) ?? { means: 'A check of /readyz fails.', fix: 'Look at the log of the process.' }
    return [
      explained(`readyz-${name.replaceAll('_', '-')}`, advice, { severity: status === 'fail' ? 'error' : 'warning', seen: detail || name }),
    ]
  })
}

const entry = <T>(table: Readonly<Record<string, T>>, name: string): T | null => (Object.hasOwn(table, name) ? (table[name] ?? null) : null)

const MiB = 1024 * 1024

function figureTroubles(text: string, spoolBytes: number): readonly Trouble[] {
  const sum = readFigures(text)
  const waiting = sum('gateway_log_spool_bytes')
  const [dropped, pool, jobs, shed, lists, secrets] = [
    sum('gateway_log_spool_dropped_total'),
    sum('gateway_db_pool_waiting'),
    sum('gateway_job_runs_total', 'outcome="failed"'),
    sum('gateway_shed_total'),
    sum('gateway_price_lists_failing'),
    sum('gateway_secrets_failing'),
  ]
  const [away, bodies] = [sum('gateway_log_store_failing'), sum('gateway_log_store_waiting')]
  const backlog = waiting > Math.max(spoolBytes / 4, 16 * MiB)
  return [
    ...(backlog
      ? [
          found(
            'journal-backlog',
            waiting > spoolBytes * 0.75 ? 'error' : 'warning',
            `${Math.round(waiting / MiB)} of ${Math.round(spoolBytes / MiB)} MiB`,
          ),
        ]
      : []),
    ...(dropped > 0 ? [found('journal-dropped', 'error', `${dropped} since the start`)] : []),
    ...(pool > 0 ? [found('pool-exhausted', 'warning', `${pool} wait`)] : []),
    ...(jobs > 0 ? [found('jobs-failed', 'warning', `${jobs} since the start`)] : []),
    ...(secrets > 0
      ? [found('secrets-failing', 'warning', `${secrets} cannot be read, ${sum('gateway_secrets_stale')} of them are served as they were`)]
      : []),
    ...(lists > 0 ? [found('price-lists-failing', 'warning', `${lists} cannot be read`)] : []),
    ...(away > 0 ? [found('log-store-failing', 'warning', `bodies of ${bodies} logs wait`)] : []),
    ...(shed > 0 ? [found('overloaded', 'warning', `${shed} refused since the start`)] : []),
  ]
}

/** Sums the samples of a metric, those with a label alone when one is given. */
function readFigures(text: string): (name: string, label?: string) => number {
  const lines = text.split('\n')
  return (name, label = '') =>
    lines
      .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(label))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
