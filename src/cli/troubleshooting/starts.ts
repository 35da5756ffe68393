import type { HealthReport } from '../../app/health-report.ts'
import type { SealedReason } from '../../app/secrets/vault.ts'
import type { StartFailureCode } from '../../app/start/start-failure.ts'
import type { Advice } from './advice.ts'

/** Why a process ends instead of starting: the `code` of its last JSON line. */
export const startAdvice: Readonly<Record<StartFailureCode, Advice>> = {
  settings_unusable: {
    means: 'One or more settings have an invalid value. `settings` names them, and the lines after it explain each fault.',
    fix: 'Correct them. `gatehouse env` lists every setting with an example.',
  },
  release_too_old: {
    means: 'A later release was finalized on this database, and its schema no longer has the parts that this release needs.',
    fix: 'Run the release that the message names, or a later one. To go back further, restore a backup from before `gatehouse finalize`.',
  },
  chart_too_old: {
    means: 'The chart that deployed this process is too old for this release.',
    fix: 'Upgrade with the chart that the message names. With `CHART_CHECK=warn` the process starts nevertheless.',
  },
  chart_missing: {
    means:
      'The process runs in Kubernetes, and its chart is unknown: the chart is too old to name itself, or another tool deployed the image.',
    fix: 'Upgrade with the chart that the message names. If you deploy with another tool on purpose, set `DEPLOYMENT_CHART`, or `CHART_CHECK=warn`.',
  },
  image_differs: {
    means:
      'The image that `image.digest` names contains another release than `image.tag` names, so that the chart took one release for another.',
    fix: 'Set both to the same release. With `CHART_CHECK=warn` the process starts nevertheless.',
  },
  wrong_key: {
    means: '`ENCRYPTION_KEY` is not the key that this database was sealed with.',
    fix: 'Set it to that key; the message names the fingerprints. The database is unchanged.',
  },
  postgresql_too_old: {
    means: 'The version of PostgreSQL is below the range of this release.',
    fix: 'Upgrade PostgreSQL first, then Gatehouse.',
  },
  pooler_shares_sessions: {
    means:
      'A connection pooler such as PgBouncer stands before PostgreSQL and shares its connections between sessions (transaction or statement mode). Locks, notifications and settings of a session get lost there.',
    fix: 'Set `DB_HOST` and `DB_PORT` to PostgreSQL itself, or to a pooler in session mode.',
  },
  database_missing: {
    means: '`DB_HOST` is not set, and the released image contains no PostgreSQL.',
    fix: 'Set `DB_HOST` and the other `DB_*` settings. For a trial without a database, run the image whose tag ends with `-evaluation`.',
  },
  unknown_level: {
    means: '`RELEASE_LEVEL` names an unknown release, or one after this build.',
    fix: 'Set it to a release, or remove it.',
  },
  weak_owner_password: {
    means: '`INIT_OWNER_PASSWORD` is easy to guess, or holds the e-mail address, and the owner has no password yet.',
    fix: 'Set a password that is hard to guess, such as a sentence of several words, or leave it out and run `gatehouse owner link`.',
  },
  address_in_use: {
    means: 'Another process listens at the address and port.',
    fix: 'End the other process, or set `PORT`.',
  },
  address_unavailable: {
    means: '`HOST` is an address that this machine does not have.',
    fix: 'Set `HOST` to an address of the machine, or to `0.0.0.0` for all of them.',
  },
  data_dir_unusable: {
    means: 'The process cannot create a folder in `DATA_DIR`.',
    fix: 'Set `DATA_DIR` to a folder that the user of the process may write to.',
  },
  start_failed: {
    means: 'Another failure. The message names it, and `err` in the JSON line has the details.',
    fix: 'If the message names the database, run `gatehouse preflight`. Otherwise send a support bundle.',
  },
}

/** The checks of `/readyz`, when they fail. */
export const readinessAdvice: Readonly<Record<keyof HealthReport['checks'], Advice>> = {
  certificate: {
    means:
      'The certificate of the port (`TLS_CERT`) has expired or expires within a week, or its new files are unusable and the former one is in use.',
    fix: 'Look at the `detail`. Put a certificate and its key where `TLS_CERT` and `TLS_KEY` point: the process reads them again within seconds. `gatehouse preflight` checks the files.',
  },
  clock: {
    means:
      'The clock of the process and that of PostgreSQL are more than a minute apart. Keys expire by a wrong clock, and jobs delete no data by its age until they agree.',
    fix: 'Turn time synchronisation on, on both machines (chrony, systemd-timesyncd, or that of the hypervisor).',
  },
  database: {
    means:
      'PostgreSQL does not answer. As a warning: the data in memory still serves. As a failure: this data is too old (`CACHE_MAX_STALE`).',
    fix: 'Look at PostgreSQL and at the network. The log of the process names the fault; `gatehouse preflight` tries the connection.',
  },
  migrations: {
    means: 'The start is not complete: the process waits for the database, or for `gatehouse migrate`.',
    fix: 'Look at the `detail`. When it waits for the schema, look at the migration Job, or run `gatehouse migrate`.',
  },
  snapshot: {
    means: 'The process does not receive changes of keys and providers: not yet, or not for longer than `CACHE_MAX_STALE`.',
    fix: 'At a start: wait a moment. Later: look at PostgreSQL and at the number of its connections.',
  },
  encryption_key: {
    means: 'The process is sealed: `missing_key`, `invalid_key` or `wrong_key`.',
    fix: 'Set `ENCRYPTION_KEY` to the key of this database, and restart.',
  },
  limits: {
    means:
      'The counters of limits cannot be read or written. Requests go on from the slices that the process holds, then as `LIMITS_WHEN_UNAVAILABLE` decides.',
    fix: 'Look at PostgreSQL. The usage meanwhile is written as soon as it answers.',
  },
  journal: {
    means:
      'Log records cannot be written to `journal` in `DATA_DIR`, or the disk has no room for them. They go to the database from memory, 16 MiB at most, and are lost if the process ends first.',
    fix: 'Look at the `detail`, which names the folder and the fault: give the folder to the user that the process runs as, or make room. The process tries again every few seconds.',
  },
  draining: {
    means: 'The process got a stop signal, and finishes running requests.',
    fix: 'No action: it ends by itself, at the latest after `TERMINATION_GRACE`.',
  },
}

/** Why a process is sealed. */
export const sealedAdvice: Readonly<Record<SealedReason, Advice>> = {
  missing_key: {
    means: 'There is no encryption key.',
    fix: 'Set `ENCRYPTION_KEY`, or restore `encryption.key` in `DATA_DIR` if you use the embedded database.',
  },
  invalid_key: { means: 'The encryption key is malformed.', fix: 'Give 32 bytes in base64, as `openssl rand -base64 32` writes them.' },
  wrong_key: {
    means: 'The encryption key is not the one that this database was sealed with.',
    fix: 'Set `ENCRYPTION_KEY` to the former key; to replace it on purpose, follow [key rotation](key-rotation.md).',
  },
}
