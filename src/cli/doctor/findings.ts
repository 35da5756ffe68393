import type { Advice } from '../troubleshooting/advice.ts'

/** The findings of `gatehouse doctor`, besides the checks of preflight and of `/readyz`. */
export const findingAdvice = {
  'process-silent': {
    means: 'No process answers at the address that was asked.',
    fix: 'Is it running? Look at its last log lines: exit code 78 means a wrong setting or a refusal, and its last line says why. Name another address with `--url`.',
  },
  'process-foreign': {
    means: 'What answers at the address is not Gatehouse.',
    fix: 'Name the address of the process with `--url`; behind a proxy the address of the process itself.',
  },
  'process-stalls': {
    means: 'The process answers one question and not another, so that not all of it could be looked at.',
    fix: 'Ask again; when it lasts, the process has too little CPU: add replicas, see [sizing](sizing.md).',
  },
  'versions-differ': {
    means: 'The process that runs is another release than this command.',
    fix: 'Run `gatehouse doctor` from the same image as the process, or finish the upgrade.',
  },
  'level-behind': {
    means: 'The upgrade is not finalized: what later releases bring is off, and the former release may still come back.',
    fix: 'When the new release has proved itself, run `gatehouse finalize`.',
  },
  'journal-backlog': {
    means: 'Request logs wait on disk because the database does not take them, or not fast enough.',
    fix: 'Look at the database first. Logs are shipped by themselves when it is back; raise `LOG_SPOOL_MAX_MB` and the volume when outages may last.',
  },
  'journal-orphans': {
    means: 'Request logs of processes that ended lie in the data folder, and no running process has taken them over.',
    fix: 'Start a process on the same `DATA_DIR`; it ships them first.',
  },
  'journal-dropped': {
    means: 'Request logs were dropped because the disk or `LOG_SPOOL_MAX_MB` was full. Requests were not held up.',
    fix: 'Make room on the volume of `DATA_DIR`, or raise `LOG_SPOOL_MAX_MB`; then look why the database did not take them.',
  },
  'journal-rejected': {
    means: 'The database refused some request logs for good; they are kept in `journal/rejected.bad`, with the reason.',
    fix: 'Read the reasons there, and send them with a support bundle.',
  },
  'pool-exhausted': {
    means: 'Requests of the control plane wait for a database connection.',
    fix: 'Raise `DB_POOL_SIZE`, within `max_connections` of PostgreSQL; look for slow statements.',
  },
  'jobs-failed': {
    means: 'Background jobs failed since the process started.',
    fix: 'Look for "job failed" in the log; the next run tries again.',
  },
  overloaded: {
    means: 'The process refuses new requests at this moment, or did since it started.',
    fix: 'Add replicas or memory; see [sizing](sizing.md).',
  },
} as const satisfies Record<string, Advice>

export type FindingId = keyof typeof findingAdvice
