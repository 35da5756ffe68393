import { randomUUID } from 'node:crypto'
import type { AuditEntry } from './write.ts'

/** The work of a job for one organisation. */
interface JobWork extends Pick<AuditEntry, 'workspaceId' | 'action' | 'resourceType' | 'resourceId' | 'changes' | 'at'> {
  /** The name of the job. */
  readonly job: string
  readonly organisationId: string
}

/** Returns the entry of the trail for the work of a job, which no request asked for. */
export const jobEntry = ({ job, organisationId, ...done }: JobWork): AuditEntry => ({
  actor: { type: 'system', id: null, name: job, organisationId, userId: null },
  method: 'JOB',
  uri: job,
  query: null,
  requestId: randomUUID(),
  clientAddress: 'background',
  status: 200,
  body: undefined,
  ...done,
})
