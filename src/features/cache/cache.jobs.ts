import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** Drops the partitions in which every answer has expired. */
export const dropExpiredAnswers: Job = {
  name: 'cache.drop-expired',
  every: '17 * * * *',
  irreversible: true,
  run: ({ orm }) => asSystem(orm, async (em) => void (await em.execute('SELECT drop_answer_partitions()'))),
}

interface CacheSizes {
  readonly trimmed: string
  readonly bytes: string
  readonly fullest: string
}

/** Deletes the oldest answers of organisations that keep too many, and measures the rest. */
export const trimAnswers: Job = {
  name: 'cache.trim',
  every: '*/5 * * * *',
  irreversible: false,
  async run({ orm, config, metrics, log }) {
    const rows = await asSystem(orm, (em) =>
      em.execute<CacheSizes[]>('SELECT trimmed, bytes, fullest FROM trim_answers(?)', [config.storedAnswerBytes]),
    )
    const [kept] = rows
    if (kept === undefined) return
    if (Number(kept.trimmed) > 0)
      log.info({ answers: Number(kept.trimmed) }, 'the oldest cached answers were deleted: RESPONSE_CACHE_STORED_IN_MB is reached')
    metrics.measure('gateway_cached_answers_stored_bytes', () => Number(kept.bytes))
    metrics.measure('gateway_cached_answers_fullest_ratio', () => Number(kept.fullest) / config.storedAnswerBytes)
  },
}
