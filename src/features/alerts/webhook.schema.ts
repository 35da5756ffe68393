import { z } from 'zod'
import { calledUrl } from '../../gateway/ports/checks.ts'
import { listFields, listOf, searchField, usualSorts } from '../../lib/paging.ts'
import { secretField } from '../../lib/json/secret-fields.ts'
import { nameField } from '../../lib/text/slug.ts'
import { eventNames } from './alert-event.ts'

const url = secretField(calledUrl).meta({
  description:
    'The address to which events are sent with POST. Hosts follow the same rules as those of providers; redirects are not followed. Answers show its origin and its last four characters; a PUT with that text keeps it.',
})
const events = z
  .array(z.enum(eventNames))
  .min(1)
  .max(eventNames.length)
  .nullable()
  .optional()
  .meta({ description: 'The events to send; null or absent: all.' })
const workspace = z.string().min(1).max(255)

export const createWebhookBody = z
  .strictObject({
    name: nameField,
    url,
    events,
    workspace_id: workspace.optional().meta({
      description: 'Id or slug: only the alerts of this workspace. With an organisation key absent: those of the whole organisation.',
    }),
  })
  .meta({ id: 'CreateAlertWebhook', description: 'A receiver of alerts.' })

export const updateWebhookBody = z
  .strictObject({
    name: nameField.optional(),
    url: url.optional(),
    events,
    rotate_secret: z
      .boolean()
      .default(false)
      .meta({ description: 'True makes a new secret, which the answer shows; the old one ends at once.' }),
  })
  .meta({ id: 'UpdateAlertWebhook', description: 'Absent fields stay; `events: null` sends all.' })

export const webhookParams = z.object({ webhookId: z.string() })

export const webhookFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at' }),
  search: searchField('the name'),
  workspace_id: workspace.optional().meta({ description: "Only a workspace's own." }),
})

const fields = {
  id: z.uuid(),
  name: z.string(),
  url: z.string().meta({ description: 'The origin and the last four characters: the path of many webhooks is their credential.' }),
  events: z.array(z.string()).nullable().meta({ description: 'Null: all.' }),
  workspace_id: z.uuid().nullable().meta({ description: 'Null: the whole organisation.' }),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  object: z.literal('alert_webhook'),
}

export const webhookView = z
  .object(fields)
  .meta({ id: 'AlertWebhook', description: 'A receiver of alerts; its secret is shown only when it is made.' })

const secret = z.string().meta({ description: 'Shown this once: deliveries are signed with it, by the Standard Webhooks specification.' })

export const webhookMade = z
  .object({ ...fields, secret })
  .meta({ id: 'AlertWebhookMade', description: 'A receiver of alerts, with its secret.' })

export const webhookChanged = z
  .object({ ...fields, secret: secret.optional() })
  .meta({ id: 'AlertWebhookChanged', description: 'A receiver of alerts, with its new secret if one was asked for.' })

export const webhookList = listOf(webhookView).meta({ id: 'AlertWebhookList', description: 'Receivers of alerts, the latest first.' })

export const webhookTested = z
  .object({
    delivered: z.boolean(),
    status: z.int().nullable().meta({ description: 'The status that the receiver answered; null: it did not.' }),
    error: z.string().nullable(),
    execution_time: z.number().meta({ description: 'Milliseconds.' }),
  })
  .meta({ id: 'AlertWebhookTested', description: 'The outcome of a test event.' })

export const alertFilter = z.object({
  page_size: z.coerce.number().int().min(0).max(1000).default(50),
  current_page: z.coerce.number().int().min(0).max(1_000_000).default(0),
  state: z
    .enum(['pending', 'delivered', 'sent', 'failed'])
    .optional()
    .meta({ description: 'Only alerts with a delivery or a mail in this state; deliveries are delivered, mails are sent.' }),
})

const delivery = z.object({
  webhook_id: z.uuid(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  last_status: z.int().nullable(),
  last_error: z.string().nullable(),
  next_attempt_at: z.iso.datetime().nullable().meta({ description: 'Null: it ended.' }),
})

const mail = z.object({
  recipient: z.string().nullable().meta({ description: 'Null for callers of a workspace, which may not see addresses.' }),
  state: z.enum(['pending', 'sent', 'failed']).meta({ description: '`sent`: the mail server took it.' }),
  attempts: z.int(),
  last_error: z.string().nullable().meta({ description: 'The error in the words of the mail server.' }),
  next_attempt_at: z.iso.datetime().nullable().meta({ description: 'Null: it ended.' }),
  ended_at: z.iso.datetime().nullable(),
})

export const alertList = z
  .object({
    object: z.literal('list'),
    total: z.int(),
    data: z.array(
      z.object({
        object: z.literal('alert'),
        id: z.uuid(),
        kind: z.enum(['threshold', 'exhausted', 'expired']),
        owner_kind: z.string(),
        owner_id: z.uuid(),
        group: z.string().nullable(),
        type: z.string().nullable().meta({ description: 'The unit of the limit; null for expiries.' }),
        used: z.string().nullable(),
        limit: z.string().nullable(),
        created_at: z.iso.datetime(),
        told_at: z.iso.datetime().nullable().meta({ description: 'When its mails and deliveries were queued.' }),
        deliveries: z.array(delivery),
        mails: z.array(mail),
      }),
    ),
  })
  .meta({ id: 'AlertList', description: 'Alerts, the latest first.' })
