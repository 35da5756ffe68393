import { z } from 'zod'
import { textField } from '../../lib/text/text.ts'
import { valueFilters } from '../logs/index.ts'

export const topics = ['logs.tail', 'changes', 'exports'] as const
export type Topic = (typeof topics)[number]

/** Unknown filters are refused: one without effect would show too much. */
export const eventsQuery = z
  .strictObject({
    topics: z
      .string()
      .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))])
      .pipe(z.array(z.enum(topics)).min(1))
      .meta({
        description:
          'Comma-separated. `logs.tail`: new logs, as lists show them; it takes `logs.list`. `changes`: writes through the control plane, to resources that the caller may read. `exports`: exports that went on; it takes `logs.export`.',
      }),
    workspace_id: textField(255).optional().meta({ description: 'Id or slug. A workspace key gets events of its own workspace only.' }),
    seconds: z.coerce.number().int().min(1).max(86_400).optional().meta({
      description: 'The stream ends after so many seconds, for clients that would rather ask again; absent: it goes on.',
    }),
    ...valueFilters,
  })
  .meta({ id: 'EventsQuery', description: 'The wanted events. The filters are those of the list of logs, and apply to `logs.tail`.' })

export type EventsQuery = z.output<typeof eventsQuery>

export const eventText = z.unknown().meta({
  id: 'EventStream',
  description:
    'Server-sent events, each with an `id`, to be sent as `Last-Event-ID` after a break. `logs.tail`: `{data: [LogMetrics], dropped}`, each 250 ms; `changes` and `exports`: `{data: [...], dropped}`; `dropped` is how many more there were, null if their visibility was not checked; `gap`: an unknown number was missed, read the lists anew; `live`: `{live}`, false while no notifications come from the database; `end`: `{reason}`. A comment comes each 15 seconds.',
})
