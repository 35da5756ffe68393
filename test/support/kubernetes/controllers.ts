import { setTimeout as sleep } from 'node:timers/promises'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { Job } from 'kubernetes-types/batch/v1.d.ts'
import type { Pod } from 'kubernetes-types/core/v1.d.ts'
import type { Api, Cluster } from './cluster.ts'

const everyMs = 40

/** Ends Jobs and bare pods as if they had run, and rolls Deployments out as if there were nodes. */
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
      const deployments = await api<{ items: readonly Deployment[] }>('GET', '/apis/apps/v1/deployments')
      for (const { metadata, spec, status } of deployments.body.items)
        if (status?.observedGeneration !== metadata?.generation)
          await api('PATCH', `/apis/apps/v1/namespaces/${metadata?.namespace}/deployments/${metadata?.name}/status`, {
            status: rolledOut(metadata?.generation ?? 1, spec?.replicas ?? 1),
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

function rolledOut(observedGeneration: number, replicas: number): object {
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas }
  const conditions = [
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
  ]
  return { observedGeneration, ...counts, conditions }
}

function jobStatus(outcome: 'Complete' | 'Failed'): object {
  const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
  const failed = outcome === 'Failed'
  const reason = failed ? { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' } : {}
  const common = { status: 'True', lastProbeTime: now, lastTransitionTime: now, ...reason }
  const conditions = [failed ? 'FailureTarget' : 'SuccessCriteriaMet', outcome].map((type) => Object.assign({ type }, common))
  return { startTime: now, ...(failed ? { failed: 1 } : { succeeded: 1, completionTime: now }), conditions }
}
