import { z } from 'zod'
import { listOf, listFields } from '../../lib/paging.ts'
import { textField } from '../../lib/text/text.ts'

/** The sort orders of the list. */
export const sorts = { timestamp: 'at' }

const moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()])
const exact = textField(255).min(1).optional()
const status = z.string().regex(/^[1-5]\d\d$/, 'A status code has three digits.')

/** The kinds of author: a caller's key or user, a person who accepts an invite, the command line, the process itself. */
const actorTypes = ['user', 'api_key', 'invite', 'operator', 'scim_token', 'system'] as const

/** The filters of the trail. Unknown ones are refused: a filter without effect would show too much. */
export const auditFilter = z
  .strictObject({
    ...listFields({ sorts, sort: '-timestamp' }),
    start_time: moment.optional().meta({ description: 'Rows from this moment on; a date alone is its first moment, UTC.' }),
    end_time: moment.optional().meta({ description: 'Rows before this moment; a date alone is its first moment, UTC.' }),
    organisation_id: textField(255).optional().meta({ description: "Id or slug of the key's own organisation; another is not found." }),
    workspace_id: textField(255).optional().meta({ description: 'Id or slug; an archived workspace can be named too.' }),
    method: z.enum(['POST', 'PUT', 'DELETE']).optional(),
    uri: textField(2000).min(1).optional().meta({ description: 'How the path begins, e.g. `/v1/integrations`.' }),
    request_id: exact,
    user_id: z.uuid().optional().meta({ description: 'The user, or the key, that acted.' }),
    user_type: z.enum(actorTypes).optional(),
    response_status_code: status.transform(Number).optional(),
    resource_type: exact.meta({ description: 'E.g. `integration`.' }),
    resource_id: z.uuid().optional().meta({ description: 'The history of one resource.' }),
    action: exact.meta({ description: 'E.g. `create`.' }),
    client_ip: exact,
    country: z
      .string()
      .regex(/^[A-Za-z]{2}$/, 'A country has two letters.')
      .optional(),
  })
  .refine(
    ({ start_time, end_time }) => start_time === undefined || end_time === undefined || Date.parse(start_time) < Date.parse(end_time),
    {
      path: ['end_time'],
      message: 'The end is not after the start.',
    },
  )

export type AuditFilter = z.output<typeof auditFilter>

const json = z.string().nullable()

/** A row of the trail as it is answered. */
export const auditRecord = z
  .object({
    id: z.uuid(),
    timestamp: z.iso.datetime(),
    method: z.string().meta({ description: '`POST`, `PUT` or `DELETE`; `JOB` and `START` for writes of the process itself.' }),
    uri: z.string(),
    request_id: z.string(),
    request_body: json.meta({ description: 'JSON text; secrets as keyed hashes.' }),
    query_params: json.meta({ description: 'JSON text; secrets as keyed hashes.' }),
    request_headers: json.meta({ description: 'JSON text; secrets as keyed hashes.' }),
    user_id: z.uuid().nullable(),
    user_type: z.enum(actorTypes),
    actor_id: z.uuid().nullable().meta({ description: 'The key, the user or the invite that acted.' }),
    actor_name: z.string().nullable(),
    organisation_id: z.uuid(),
    workspace_id: z.uuid().nullable(),
    response_status_code: z.int(),
    resource_type: z.string(),
    resource_id: z.uuid().nullable(),
    action: z.string(),
    client_ip: z.string(),
    country: z.string().nullable(),
    before: z.unknown().meta({ description: 'The columns that changed, as they were; null for a creation.' }),
    after: z.unknown().meta({ description: 'The columns that changed, as they are since; null for a removal.' }),
    related: z.unknown().meta({ description: 'Other rows that the same write changed.' }),
    error: z.unknown().meta({ description: 'Why it was refused, when it was.' }),
    seq: z.int().nullable().meta({ description: "The place in the organisation's chain." }),
    hash: z.string().nullable().meta({ description: 'The link of the chain, in hex; `gatehouse audit verify` proves it.' }),
    object: z.literal('audit-log'),
  })
  .meta({ id: 'AuditLog', description: 'One write on the control plane: actor, action and resource.' })

export const auditList = listOf(auditRecord).meta({ id: 'AuditLogList', description: 'The audit trail, newest first.' })
