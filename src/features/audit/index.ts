import { feature } from '../../app/feature.ts'
import { AuditLog } from './audit-log.entity.ts'

/** The trail of control-plane writes; the route adapter writes its rows. */
export const audit = feature({ id: 'audit', since: '1.3.0', permissions: [], entities: [AuditLog], routes: [] })
