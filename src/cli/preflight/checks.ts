import type { Check } from './check.ts'
import { caBundleCheck } from './checks/ca-bundle.ts'
import { clockCheck } from './checks/clock.ts'
import { connectionCheck, versionCheck } from './checks/connection.ts'
import { diskCheck } from './checks/disk.ts'
import { encryptionKeyCheck } from './checks/encryption-key.ts'
import { helmStateCheck } from './checks/helm-state.ts'
import { connectionsCheck, longTransactionsCheck } from './checks/load.ts'
import { logSealingCheck } from './checks/log-sealing.ts'
import { poolingCheck } from './checks/pooling.ts'
import { portCertificateCheck } from './checks/port-certificate.ts'
import { privilegesCheck } from './checks/privileges.ts'
import { backfillsCheck, chartFloorCheck, upgradePathCheck } from './checks/release.ts'
import { schemaCheck } from './checks/schema.ts'
import { settingsCheck } from './checks/settings.ts'
import { tlsCheck } from './checks/tls.ts'
import { vectorsCheck } from './checks/vectors.ts'
import { volumesCheck } from './checks/volumes.ts'

/** Every check of `gatehouse preflight`, in its order. */
export const preflightChecks: readonly Check[] = [
  settingsCheck,
  caBundleCheck,
  portCertificateCheck,
  connectionCheck,
  versionCheck,
  tlsCheck,
  privilegesCheck,
  poolingCheck,
  vectorsCheck,
  longTransactionsCheck,
  connectionsCheck,
  clockCheck,
  schemaCheck,
  upgradePathCheck,
  backfillsCheck,
  chartFloorCheck,
  encryptionKeyCheck,
  logSealingCheck,
  volumesCheck,
  diskCheck,
  helmStateCheck,
]
