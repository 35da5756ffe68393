import { setTimeout as pause } from 'node:timers/promises'

/** The place at which a layer has its lists. */
export interface LayerSource {
  readonly name: string
  /** Resolves with the list of a provider; null: it has none. Rejects when it is unknown. */
  read(provider: string): Promise<Buffer | null>
}

export interface LayerOptions<List extends ListDigest> {
  readonly source: LayerSource
  /** Reads the bytes of a list. Throws on other bytes. */
  readonly parse: (bytes: Buffer, provider: string) => List
  /** A source that takes longer is passed over. */
  readonly timeoutMs?: number
  /** Milliseconds. */
  readonly now: () => number
  /** Between 0 and 1. */
  readonly random: () => number
  /** Called for each list that could not be read; the one before is kept. */
  readonly failed: (provider: string, reason: string) => void
}

/** A list that has a name of its contents. */
export interface ListDigest {
  readonly digest: string
}

/** A layer of lists: the lists of its providers, in memory. */
export interface Layer<List> {
  readonly name: string
  /** Returns the list of a provider as it was last read; null: the layer has none, has not been read yet, or is too old. Never waits. */
  held(provider: string): List | null
  /** Resolves when the first reading of the list of a provider has ended; null: it has. */
  opening(provider: string): Promise<void> | null
}

/** A layer, and how it is. */
export interface LiveLayer<List> extends Layer<List> {
  /** Milliseconds since the list was read; null: none is held. */
  ageMs(provider: string): number | null
  /** Resolves when the list of a provider was read, or could not be. */
  ready(provider: string): Promise<void>
  /** Resolves when no list is being read. */
  idle(): Promise<void>
  readonly stats: () => LayerStats
  /** Returns which version of each list is held. Those that are due are read again meanwhile, so that a process without requests follows too. */
  versions(): readonly ListVersion[]
}

/** The version of a list that is held. */
export interface ListVersion extends ListDigest {
  readonly provider: string
}

export interface LayerStats {
  /** Lists that are held. */
  readonly held: number
  /** Lists of which the last reading failed. */
  readonly failing: number
  /** Milliseconds since the oldest list was read; null: none is held. */
  readonly ageMs: number | null
  /** The fault of the last list that could not be read; null: all can. */
  readonly fault: string | null
}

interface LayerState<List> {
  file: List | null
  fault: string | null
  readAt: number
  dueAt: number
  reading: Promise<void> | null
  /** True from the end of the first reading on. */
  isOpen: boolean
  /** True while the source has not answered, even if no request waits for it any more: it is not asked again before. */
  isAsked: boolean
}

const [hourMs, retryMs, absentMs] = [3_600_000, 60_000, 300_000]
/** A list that could not be read again for a week is worse than the next layer's. */
const longestAgeMs = 7 * 24 * hourMs
const usualTimeoutMs = 15_000

/**
 * Holds the lists of one source for an hour, and reads them again in the background when a request asks for one that is due. A list that
 * cannot be read leaves the former one in place for a week at most, and is tried again after a minute; one that is not there after five.
 */
export function createLayer<List extends ListDigest>({
  source,
  parse,
  now,
  random,
  failed,
  timeoutMs = usualTimeoutMs,
}: LayerOptions<List>): LiveLayer<List> {
  const lists = new Map<string, LayerState<List>>()

  const read = async (provider: string, held: LayerState<List>): Promise<void> => {
    try {
      const bytes = await inTime(askSource(source, provider, held), timeoutMs)
      held.file = bytes === null ? null : parse(bytes, provider)
      held.fault = null
      held.readAt = now()
      held.dueAt = now() + jittered(bytes === null ? absentMs : hourMs, random())
    } catch (error) {
      held.fault = error instanceof Error ? error.message : String(error)
      held.dueAt = now() + jittered(retryMs, random())
      failed(provider, held.fault)
    } finally {
      held.reading = null
      held.isOpen = true
    }
  }

  const look = (provider: string): LayerState<List> => {
    const held = lists.get(provider) ?? { file: null, fault: null, readAt: now(), dueAt: 0, reading: null, isOpen: false, isAsked: false }
    lists.set(provider, held)
    if (held.reading === null && !held.isAsked && now() >= held.dueAt) held.reading = read(provider, held)
    return held
  }

  return {
    name: source.name,
    held(provider) {
      const { file, readAt } = look(provider)
      return now() - readAt > longestAgeMs ? null : file
    },
    opening(provider) {
      const { isOpen, reading } = look(provider)
      return isOpen ? null : reading
    },
    ageMs(provider) {
      const held = lists.get(provider)
      return held === undefined || held.file === null ? null : now() - held.readAt
    },
    versions() {
      return [...lists.keys()].flatMap((provider) => {
        const { file, readAt } = look(provider)
        return file === null || now() - readAt > longestAgeMs ? [] : [{ provider, digest: file.digest }]
      })
    },
    async ready(provider) {
      await look(provider).reading
    },
    async idle() {
      for (const { reading } of lists.values()) if (reading !== null) await reading
    },
    stats: () => statsOf([...lists.values()], now()),
  }
}

async function askSource(source: LayerSource, provider: string, held: Pick<LayerState<unknown>, 'isAsked'>): Promise<Buffer | null> {
  held.isAsked = true
  try {
    return await source.read(provider)
  } finally {
    held.isAsked = false
  }
}

function statsOf(lists: readonly Pick<LayerState<unknown>, 'file' | 'fault' | 'readAt'>[], now: number): LayerStats {
  const all = lists.filter(({ file }) => file !== null)
  const faults = lists.flatMap(({ fault }) => fault ?? [])
  return {
    held: all.length,
    failing: faults.length,
    ageMs: all.length === 0 ? null : now - Math.min(...all.map(({ readAt }) => readAt)),
    fault: faults.at(-1) ?? null,
  }
}

/** Waits so long for a source: a mounted folder may hang without an error. */
async function inTime<T>(reading: Promise<T>, ms: number): Promise<T> {
  const stop = new AbortController()
  const late = pause(ms, null, { signal: stop.signal, ref: false }).then(() => {
    throw new Error(`no answer within ${ms} ms`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([reading, late])
  } finally {
    stop.abort()
  }
}

/** Spreads times over a tenth, so that processes do not all read at once. */
const jittered = (ms: number, random: number): number => ms - Number(BigInt(ms) / 10n) * random
