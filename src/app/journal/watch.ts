import type { Logger } from 'pino'
import type { OpenJournal } from '../../gateway/ports/journal.ts'

const lookEveryMs = 1_000
const sayEveryMs = 60_000

export interface WatchOptions {
  readonly journal: Pick<OpenJournal, 'stats'>
  readonly directory: string
  readonly log: Logger
}

/** Logs once a minute that the disk refuses log records, and once that it takes them again. Returns a function that ends it. */
export function watchJournal({ journal, directory, log }: WatchOptions): () => void {
  let saidAt = Number.NEGATIVE_INFINITY
  let failing = false
  const look = () => {
    const { fault, dropped } = journal.stats()
    if (fault === null) {
      if (failing) log.info({ directory }, 'log records are written to disk again')
      failing = false
    } else if (performance.now() - saidAt >= sayEveryMs) {
      log.error(
        { directory, reason: fault, dropped },
        'log records cannot be written to disk: they go to the database from memory, as far as there is room',
      )
      saidAt = performance.now()
      failing = true
    }
  }
  look()
  const timer = setInterval(look, lookEveryMs).unref()
  return () => clearInterval(timer)
}
