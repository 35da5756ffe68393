import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from '../../app/route.ts'
import { type Guardrail, answerOfStream, type Sample, type Trial, type TrialDeps, tryGuardrail } from '../../gateway/ports/checks.ts'
import { type LogSample, type LogSelection, readSample, selectLogs } from '../logs/index.ts'
import type { TryGuardrail } from './trial.schema.ts'

type LogTrialCall = Pick<Call<unknown, unknown, TryGuardrail>, 'em' | 'actor' | 'deps' | 'body'>
type Row = Awaited<ReturnType<typeof selectLogs>>[number]

interface TrialContext {
  readonly guardrail: Guardrail
  /** The workspace of the guardrail; null: logs of every workspace. */
  readonly workspaceId: string | null
  readonly selection: LogSelection
  readonly run: TrialDeps
}

/** A person waits for the answer, and a connection of the database with them. */
const longestMs = 10_000
/** So many logs at a time when checks ask others; else one, and then as much time for all else as it took. */
const atATime = 8

type SkipReason = 'no_body' | 'truncated' | 'unreadable' | 'time'

/** Runs a guardrail over the latest logs that the caller may read, without any effect on their callers. Logs beyond the time limit are left out. */
export async function tryOnLogs(asked: LogTrialCall, { guardrail, workspaceId, selection, run }: TrialContext) {
  const { em, actor, body } = asked
  const until = performance.now() + longestMs
  const rows = await selectLogs(em, actor, { workspaceId, selection })
  const asks = guardrail.checks.some(({ definition }) => definition.timeoutMs !== null)
  const results: ReturnType<typeof toResult>[] = []
  for (let at = 0; at < rows.length; at += asks ? atATime : 1) {
    const from = performance.now()
    const some = rows.slice(at, at + (asks ? atATime : 1))
    const samples = from < until ? await readSamples(asked, some) : some.map(() => 'time' as const)
    const outcomes = samples.map(async (sample) => (typeof sample === 'string' ? sample : tryGuardrail(guardrail, sample, run)))
    for (const [index, outcome] of (await Promise.all(outcomes)).entries()) {
      const row = some[index]
      if (row !== undefined) results.push(toResult(row, outcome))
    }
    if (!asks && from < until) await sleep(performance.now() - from)
  }
  const count = (holds: (result: (typeof results)[number]) => boolean) => results.filter(holds).length
  return {
    object: 'guardrail_log_test' as const,
    phase: body.phase,
    logs: rows.length,
    judged: count(({ skipped }) => skipped === null),
    failed: count(({ verdict }) => verdict === false),
    denied: count(({ denied }) => denied),
    transformed: count(({ transformed }) => transformed),
    results,
  }
}

/** One after the other, since they share a connection of the database. */
async function readSamples({ em, actor, deps, body }: LogTrialCall, rows: readonly Row[]): Promise<readonly (Sample | SkipReason)[]> {
  const samples: (Sample | SkipReason)[] = []
  for (const row of rows) {
    const read = await readSample(em, actor, { id: row.id, deps })
    samples.push(read === null ? 'unreadable' : toSample(read, row, body.phase))
  }
  return samples
}

function toSample({ path, request, response }: LogSample, row: Row, phase: TryGuardrail['phase']): Sample | SkipReason {
  const looked = phase === 'input' ? request : response
  if (looked.body === null) return 'no_body'
  if (looked.body_truncated) return 'truncated'
  const answer = response.body_encoding === 'text' && row.stream ? answerOfStream(String(response.body)) : response.body
  const json = phase === 'input' ? request.body : answer
  if (typeof json !== 'object' || json === null) return 'unreadable'
  const asked = request.body_encoding === 'json' ? request.body : {}
  return {
    phase,
    path: path.split('?', 1)[0] ?? path,
    metadata: row.metadata,
    provider: row.provider ?? '',
    request: asked,
    response: answer,
  }
}

function toResult(row: Row, outcome: Trial | SkipReason) {
  const skipped = typeof outcome === 'string' ? outcome : null
  const trial = typeof outcome === 'string' ? null : outcome
  return {
    log_id: row.id,
    created_at: new Date(row.created_at).toISOString(),
    model: row.model,
    skipped,
    verdict: trial?.verdict ?? null,
    denied: trial?.denied ?? false,
    transformed: trial?.transformed ?? false,
    checks: (trial?.checks ?? []).map(({ id, verdict, error }) => (error === undefined ? { id, verdict } : { id, verdict, error })),
  }
}
