import { z } from 'zod'
import { requestHeaders } from '../explain/index.ts'

export const replayParams = z.object({ logId: z.string() })

export const replayBody = z
  .strictObject({
    headers: requestHeaders.meta({
      description: 'Headers in place of those that were logged, such as `x-service-config` or `x-service-provider` for another target.',
    }),
    body: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Fields in place of those of the logged JSON body; a field that is null here is left out.' }),
  })
  .meta({ id: 'ReplayRequest', description: 'The differences from the logged request.' })

export const replayed = z.unknown().meta({
  id: 'ReplayAnswer',
  description:
    'The answer of the data plane, as it would be to the request itself: its status, its headers and its bytes. `x-service-request-id` is the id of the new log, whose metadata has `_replay_of`.',
})
