import type { Advice } from '../troubleshooting/advice.ts'

/** The findings of `gatehouse doctor`, besides the checks of preflight and of `/readyz`. */
export const findingAdvice = {
  'process-silent': {
    means: 'No process answers at the address that was asked.',
    fix: 'Is it running? Look at its last log lines: exit code 78 means a wrong setting or a refusal, and its last line has the reason. Name another address with `--url`.',
  },
  'process-foreign': {
    means: 'The service at the address is not Gatehouse.',
    fix: 'Name the address of the process with `--url`; behind a proxy the address of the process itself.',
  },
  'process-stalls': {
    means: 'The process answers some requests and not others, so the examination is incomplete.',
    fix: 'Try again. If it remains, the process has too little CPU: add replicas, see [sizing](sizing.md).',
  },
  'versions-differ': {
    means: 'The running process is of another release than this command.',
    fix: 'Run `gatehouse doctor` from the same image as the process, or finish the upgrade.',
  },
  'level-behind': {
    means: 'The upgrade is not finalized: new features are off, and you can still roll back.',
    fix: 'When you are satisfied with the new release, run `gatehouse finalize`.',
  },
  'price-lists-failing': {
    means:
      'A layer of price lists is slow, broken or in another unit. Requests are priced by the list that was read before, for a week at most, or by the next layer.',
    fix: '`GET /v1/prices/layers` names the layer and the reason; the log names the provider. See [price lists](prices-offline.md).',
  },
  'price-lists-differ': {
    means: 'Processes hold different versions of a price list, so that the same request costs one thing here and another there.',
    fix: 'After a list has changed, processes read it again within an hour: look again then. If it stays, the processes read different places (compare their `MODEL_CONFIGS_*` settings), or one of them cannot read it. See [price lists](prices-offline.md).',
  },
  'log-store-failing': {
    means: 'The log store does not take the bodies of logs. They wait in the database, which grows; requests are not delayed.',
    fix: 'The log line "bodies of logs wait in the database for the log store" has the reason, with the status and code of the store. See [log stores](log-stores.md).',
  },
  'secrets-failing': {
    means:
      'External secret managers do not give some secrets: they are away, refuse the sign-in, or have no such secret. Values that were read before serve for `SECRET_MAX_STALE`; then requests get 503.',
    fix: '`GET /v1/secret-references` names them with the reasons, and `POST /v1/secret-references/{id}/test` tries one step by step. See [secret managers](secret-managers.md).',
  },
  'journal-backlog': {
    means: 'Request logs wait on disk because the database does not accept them, or not fast enough.',
    fix: 'Look at the database first. Gatehouse ships the logs when it is back; raise `LOG_SPOOL_MAX_MB` and the volume when outages may last.',
  },
  'journal-orphans': {
    means: 'The data folder contains request logs of ended processes that no running process has taken over.',
    fix: 'Start a process on the same `DATA_DIR`; it ships them first.',
  },
  'journal-dropped': {
    means: 'Request logs were dropped because the disk or `LOG_SPOOL_MAX_MB` was full. Requests were not delayed.',
    fix: 'Make room on the volume of `DATA_DIR`, or raise `LOG_SPOOL_MAX_MB`; then find out why the database did not accept them.',
  },
  'journal-rejected': {
    means: 'The database refused some request logs permanently; they are in `journal/rejected.bad`, with the reason.',
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
    means: 'The process refuses new requests now, or refused some since it started.',
    fix: 'Add replicas or memory; see [sizing](sizing.md).',
  },
} as const satisfies Record<string, Advice>

export type FindingId = keyof typeof findingAdvice
