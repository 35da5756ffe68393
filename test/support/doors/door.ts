import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Takes in a prepared shape. */
export type Feed = () => unknown

/** A place where bytes of others come in and are read. */
export interface Door {
  readonly name: string
  /** The worst shapes of its bytes: each makes about so many bytes ready. */
  readonly shapes: Readonly<Record<string, (bytes: number) => Feed>>
  /** The most bytes that it takes; absent: many. */
  readonly most?: number
  /** It is measured with so many bytes at least, where what it does with many is not what it does with few. */
  readonly least?: number
  /** Its feeds return what is written of the bytes that came, or how much. */
  readonly writes?: boolean
}

/** A door is measured with n and with 4n bytes. */
const times = 4
/** A proportional feed takes four times as long; a fifth is left to chance. */
const mostGrowth = 5
/** A feed that takes the square of its bytes takes sixteen times as long, once the bytes are many enough: a growth between is a small cache or a busy machine. */
const certainGrowth = 7
const least = 8 * 1024
const most = 512 * 1024
/** Less cannot be distinguished from chance. */
const leastMs = 4
const [tries, measurements] = [4, 2]
/** A feed of fewer milliseconds is measured by the clock, in so many runs at most. */
const [clockMs, mostRuns] = [12, 20]
/** A byte that takes less, of so many bytes, is cheap in any number that a door takes: garbage collection alone makes large values grow faster than their bytes. */
const [cheapNs, enough] = [200, 2 * 1024 * 1024]
/** Bytes of memory for each byte that came, beside the usual memory of a process. */
const mostPerByte = 40
const slackBytes = 128 * 1024 * 1024
/** Bytes that are written for each byte that came, beside those that may be written of any. */
const [writtenPerByte, slackWritten] = [12, 4 * 1024 * 1024]

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Returns why a shape costs more than in proportion to its bytes; null when it does not. */
export async function faultOf(
  shape: (bytes: number) => Feed,
  { most: bound, least: from = least, writes = false }: Pick<Door, 'most' | 'least' | 'writes'> = {},
): Promise<string | null> {
  let bytes = from
  const grown = writes ? writtenFault(shape, from * times * times) : null
  if (grown !== null) return grown
  let small = await leastCpu(shape(bytes))
  while (small < leastMs && bytes * times * 2 <= (bound ?? most)) {
    bytes *= 2
    small = await leastCpu(shape(bytes))
  }
  const { fault, ms } = await memoryFault(shape, bytes * times)
  if (fault !== null) return fault
  // Most shapes are in proportion at the first look; a larger value may be by chance, and is looked at again.
  let growth = ms / small
  if (growth <= mostGrowth) return null
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const large = await leastCpu(shape(bytes * times))
    growth = large / (await leastCpu(shape(bytes)))
    const isCheap = (large * 1e6) / (bytes * times) < cheapNs
    if (growth <= mostGrowth || (isCheap && bytes * times >= (bound ?? enough))) return null
    // More bytes: chance becomes less, a disproportion becomes more.
    if (bound === undefined) bytes *= 2
  }
  if (growth <= certainGrowth) return null
  return `${times} times ${bytes} bytes take ${growth.toFixed(1)} times as long`
}

/**
 * Returns the milliseconds that a feed takes, the least of some runs: without the effects of others on the machine. Some machines count processor
 * time in steps of 4 ms: a feed that is shorter than a few steps is measured by the clock, and runs more often.
 */
async function leastCpu(feed: Feed, runs = measurements): Promise<number> {
  let [best, elapsed] = [Infinity, 0]
  const isEnough = (run: number) => run >= runs && (runs === 1 || elapsed >= clockMs || run >= mostRuns)
  for (let run = 0; !isEnough(run); run += 1) {
    const [before, start] = [process.threadCpuUsage(), performance.now()]
    await feed()
    const wall = performance.now() - start
    const { user, system } = process.threadCpuUsage(before)
    best = Math.min(best, wall < clockMs ? wall : (user + system) / 1000)
    elapsed += wall
    if (best > leastMs * 100) break
  }
  return best
}

/** Returns why a feed takes too much memory, and the milliseconds that it takes. The highest mark of a process shows the peak when a feed raises it. */
async function memoryFault(shape: (bytes: number) => Feed, bytes: number): Promise<{ readonly fault: string | null; readonly ms: number }> {
  const feed = shape(bytes)
  collect()
  const [rss, mark] = [process.memoryUsage.rss(), process.resourceUsage().maxRSS]
  const ms = await leastCpu(feed, 1)
  const after = process.resourceUsage().maxRSS
  const taken = after > mark ? after * 1024 - rss : 0
  return { fault: taken > bytes * mostPerByte + slackBytes ? `${bytes} bytes take ${Math.round(taken / 1024 / 1024)} MB` : null, ms }
}

/** Returns why more is written of a shape than in proportion to its bytes. */
function writtenFault(shape: (bytes: number) => Feed, bytes: number): string | null {
  const fed = shape(bytes)()
  const written = typeof fed === 'number' ? fed : JSON.stringify(fed ?? null).length
  return written > bytes * writtenPerByte + slackWritten ? `${bytes} bytes become ${written}` : null
}

/** Gives bytes to a reader in pieces. */
export function inPieces(bytes: Buffer, size: number, take: (piece: Buffer) => void): void {
  for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size))
}

/** Returns a text of about so many characters. */
export const repeated = (piece: string, length: number): string => piece.repeat(Math.max(1, Math.round(length / piece.length)))

/** Returns a feed that may refuse its input. */
export const refusing =
  (feed: Feed): Feed =>
  () => {
    try {
      const done = feed()
      return done instanceof Promise ? done.catch(() => null) : done
    } catch {
      return null
    }
  }
