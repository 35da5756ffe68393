import type { Gateway } from '../../gateway/gateway.ts'
import { type BatchRunner, type ManagedMeans, startBatchRunner } from '../../gateway/ports/managed.ts'
import type { Deps } from '../deps.ts'
import type { SidePool } from '../database/side-pool.ts'
import { openLineQueue } from './line-queue.ts'
import { openStoredBatches } from './stored-batches.ts'
import { openStoredFiles } from './stored-files.ts'

export interface ManagedOptions extends Pick<Deps, 'config' | 'log' | 'metrics' | 'vault'> {
  readonly side: SidePool
}

export interface OpenManaged {
  readonly managed: ManagedMeans
  /** Begins to run the lines of batches. */
  run(gateway: Pick<Gateway, 'perform' | 'inflight' | 'mcp'>): BatchRunner
}

/** Opens the files and batches that Gatehouse keeps and runs itself. */
export function openManaged({ side, config, log, metrics, vault }: ManagedOptions): OpenManaged {
  const { organisation: organisationBytes, workspace: workspaceBytes } = config.storedFileBytes
  const files = openStoredFiles({ side, seal: vault.logs, organisationBytes, workspaceBytes })
  const queue = openLineQueue({ side, seal: vault.logs, organisationBytes })
  let runner: BatchRunner | null = null
  const managed: ManagedMeans = {
    files,
    batches: openStoredBatches({ side, seal: vault.logs }),
    longestLine: config.maxJsonBytes,
    maxUploadBytes: config.maxUploadBytes,
    wake: () => runner?.wake(),
  }
  return {
    managed,
    run(gateway) {
      const atOnce = config.roles.has('gateway') ? config.batchLinesAtOnce : 0
      const started = startBatchRunner({
        queue,
        files,
        atOnce,
        perform: (request) => gateway.perform(request),
        inflight: () => gateway.inflight() - gateway.mcp.streams(),
        report: (error, what) => log.warn({ err: error }, what),
      })
      const { running, done, failed, repeated } = started.counts
      metrics.measure('gateway_batch_lines_running', running)
      metrics.measure('gateway_batch_lines_total', done, { kind: 'completed' })
      metrics.measure('gateway_batch_lines_total', failed, { kind: 'failed' })
      metrics.measure('gateway_batch_lines_total', repeated, { kind: 'repeated' })
      runner = started
      return started
    },
  }
}
