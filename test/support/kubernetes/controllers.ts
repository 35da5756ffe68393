import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from 'kubernetes-types/batch/v1.d.ts'
import type { Pod } from 'kubernetes-types/core/v1.d.ts'
import type { Api, Cluster } from './cluster.ts'

const everyMs = 40

/** Ends Jobs and bare pods as if they had run; there are no nodes to run them. */
export function startControllers(api: Api, outcomes: Cluster['outcomes']): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const outcomeIn = (namespace = '') => outcomes.get(namespace) ?? 'Complete'
  const work = async () => {
    while (!stopping.signal.aborted) {
      const jobs = await api<{ items: readonly Job[] }>('GET', '/apis/batch/v1/jobs')
      for (const { metadata, status } of jobs.body.items)
        if (status?.conditions === undefined)
          await api('PATCH', `/apis/batch/v1/namespaces/${metadata?.namespace}/jobs/${metadata?.name}/status`, {
            status: jobStatus(outcomeIn(metadata?.namespace)),
          })
      const pods = await api<{ items: readonly Pod[] }>('GET', '/api/v1/pods')
      for (const { metadata, status } of pods.body.items)
        if (status?.phase === 'Pending')
          await api('PATCH', `/api/v1/namespaces/${metadata?.namespace}/pods/${metadata?.name}/status`, {
            status: { phase: outcomeIn(metadata?.namespace) === 'Complete' ? 'Succeeded' : 'Failed' },
          })
      await sleep(everyMs)
    }
  }
  const ended = work()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

function jobStatus(outcome: 'Complete' | 'Failed'): object {
  const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
  const failed = outcome === 'Failed'
  const reason = failed ? { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' } : {}
  const common = { status: 'True', lastProbeTime: now, lastTransitionTime: now, ...reason }
  const conditions = [failed ? 'FailureTarget' : 'SuccessCriteriaMet', outcome].map((type) => Object.assign({ type }, common))
  return { startTime: now, ...(failed ? { failed: 1 } : { succeeded: 1, completionTime: now }), conditions }
}
