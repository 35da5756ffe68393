import type { PriceLayer } from './price-lists.ts'
import type { PriceFile } from './price-file.ts'
import { readPriceList } from './read-list.ts'

/** The place at which a layer has its lists. */
export interface LayerSource {
  readonly name: string
  /** Resolves with the list of a provider; null: it has none. Rejects when it cannot tell. */
  read(provider: string): Promise<Buffer | null>
}

export interface LayerOptions {
  readonly source: LayerSource
  /** Milliseconds. */
  readonly now: () => number
  /** Between 0 and 1. */
  readonly random: () => number
  /** Told of each list that could not be read; the one before is kept. */
  readonly failed: (provider: string, reason: string) => void
}

/** A layer, and how it is. */
export interface LiveLayer extends PriceLayer {
  /** Resolves when no list is being read. */
  idle(): Promise<void>
  readonly stats: () => LayerStats
}

export interface LayerStats {
  /** Lists that are held. */
  readonly held: number
  /** Lists of which the last reading failed. */
  readonly failing: number
  /** Milliseconds since the oldest list was read; null: none is held. */
  readonly ageMs: number | null
}

interface Held {
  file: PriceFile | null
  readAt: number
  dueAt: number
  failing: boolean
  reading: Promise<void> | null
}

const [hourMs, retryMs, absentMs] = [3_600_000, 60_000, 300_000]

/**
 * Holds the lists of one source for an hour, and reads them again in the background when a request asks for one that is due. A list that
 * cannot be read leaves the former one in place, and is tried again after a minute; one that is not there after five.
 */
export function createLayer({ source, now, random, failed }: LayerOptions): LiveLayer {
  const lists = new Map<string, Held>()

  const read = async (provider: string, held: Held): Promise<void> => {
    try {
      const bytes = await source.read(provider)
      held.file = bytes === null ? null : readPriceList(bytes, provider)
      held.failing = false
      held.readAt = now()
      held.dueAt = now() + jittered(bytes === null ? absentMs : hourMs, random())
    } catch (error) {
      held.failing = true
      held.dueAt = now() + jittered(retryMs, random())
      failed(provider, error instanceof Error ? error.message : String(error))
    } finally {
      held.reading = null
    }
  }

  return {
    name: source.name,
    held(provider) {
      const held = lists.get(provider) ?? { file: null, readAt: now(), dueAt: 0, failing: false, reading: null }
      lists.set(provider, held)
      if (held.reading === null && now() >= held.dueAt) held.reading = read(provider, held)
      return held.file
    },
    async idle() {
      for (const { reading } of lists.values()) if (reading !== null) await reading
    },
    stats() {
      const all = [...lists.values()].filter(({ file }) => file !== null)
      return {
        held: all.length,
        failing: [...lists.values()].filter(({ failing }) => failing).length,
        ageMs: all.length === 0 ? null : now() - Math.min(...all.map(({ readAt }) => readAt)),
      }
    },
  }
}

/** Spreads times over a tenth, so that processes do not all read at once. */
const jittered = (ms: number, random: number): number => ms - Number(BigInt(ms) / 10n) * random
