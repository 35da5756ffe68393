import type { PlacedVector, PlacedAnswer } from '../../gateway/ports/cache.ts'

export interface NearMemoryOptions {
  /** Bytes of all vectors. */
  readonly most: number
  /** Bytes of the vectors of one organisation. */
  readonly mostOfOne: number
}

/** Vectors in memory, compared one by one. */
export interface NearMemory {
  nearest(asked: PlacedVector, threshold: number): readonly string[]
  put(answer: PlacedAnswer): void
  forget(organisationId: string): void
  clear(): void
  bytes(): number
  size(): number
}

interface Entry {
  readonly key: string
  readonly partition: string
  readonly vector: Float32Array
  /** The length of the rest of the vector after each block. */
  readonly rests: Float32Array
  readonly expiresAt: number
  readonly bytes: number
}

/** One organisation's, the oldest first. */
interface OwnerShare {
  readonly entries: Map<string, Entry>
  readonly partitions: Map<string, Map<string, Entry>>
  bytes: number
}

/** A vector is compared block by block, and no further than it can still reach the threshold: most are far away after one or two. */
const block = 64
/** An entry takes about so many bytes beside its vector. */
const overhead = 400
/** Keys that are given for one text: the answer of the nearest may be gone. */
const mostKeys = 3

interface State extends NearMemoryOptions {
  readonly owners: Map<string, OwnerShare>
  bytes: number
}

export function createNearMemory(options: NearMemoryOptions): NearMemory {
  const state: State = { ...options, owners: new Map(), bytes: 0 }
  const { owners } = state
  return {
    nearest: (asked, threshold) => nearest(state, asked, threshold),
    put: (answer) => put(state, answer),
    forget(organisationId) {
      state.bytes -= owners.get(organisationId)?.bytes ?? 0
      owners.delete(organisationId)
    },
    clear() {
      owners.clear()
      state.bytes = 0
    },
    bytes: () => state.bytes,
    size: () => [...owners.values()].reduce((total, { entries }) => total + entries.size, 0),
  }
}

function nearest(state: State, { scope, partition, vector }: PlacedVector, threshold: number): readonly string[] {
  const own = state.owners.get(scope.organisationId)
  const entries = own?.partitions.get(partition)
  if (own === undefined || entries === undefined) return []
  const now = Date.now()
  const one = { vector, rests: restsOf(vector) }
  const found: { readonly key: string; readonly cosine: number }[] = []
  for (const entry of entries.values()) {
    if (entry.expiresAt <= now) drop(state, own, entry)
    else {
      const cosine = cosineFrom(threshold, one, entry)
      if (cosine !== null) found.push({ key: entry.key, cosine })
    }
  }
  return found
    .toSorted((a, b) => b.cosine - a.cosine)
    .slice(0, mostKeys)
    .map(({ key }) => key)
}

function put(state: State, { key, scope: { organisationId }, partition, vector, expiresAt }: PlacedAnswer): void {
  const entry = { key, partition, vector, rests: restsOf(vector), expiresAt, bytes: vector.byteLength + overhead }
  if (entry.bytes > Math.min(state.mostOfOne, state.most)) return
  const own = state.owners.get(organisationId) ?? { entries: new Map(), partitions: new Map(), bytes: 0 }
  const before = own.entries.get(key)
  if (before !== undefined) drop(state, own, before)
  makeRoom(state, own, entry.bytes)
  state.owners.set(organisationId, own)
  own.entries.set(key, entry)
  own.partitions.set(partition, (own.partitions.get(partition) ?? new Map<string, Entry>()).set(key, entry))
  own.bytes += entry.bytes
  state.bytes += entry.bytes
}

/** Over the bound of all, the organisation with the most gives way. */
function makeRoom(state: State, own: OwnerShare, needed: number): void {
  while (own.bytes + needed > state.mostOfOne) dropOldest(state, own)
  while (state.bytes + needed > state.most)
    dropOldest(
      state,
      [...state.owners.values()].reduce((one, other) => (other.bytes > one.bytes ? other : one)),
    )
}

function dropOldest(state: State, own: OwnerShare): void {
  const [oldest] = own.entries.values()
  if (oldest !== undefined) drop(state, own, oldest)
}

function drop(state: State, own: OwnerShare, entry: Entry): void {
  const partition = own.partitions.get(entry.partition)
  own.entries.delete(entry.key)
  partition?.delete(entry.key)
  if (partition?.size === 0) own.partitions.delete(entry.partition)
  own.bytes -= entry.bytes
  state.bytes -= entry.bytes
}

/** Returns for each block of a vector the length of all that follows it. */
function restsOf(vector: Float32Array): Float32Array {
  const rests = new Float32Array(Math.ceil(vector.length / block))
  let sum = 0
  for (let at = rests.length - 1; at > 0; at -= 1) {
    for (let index = at * block; index < Math.min((at + 1) * block, vector.length); index += 1) sum += (vector[index] ?? 0) ** 2
    rests[at - 1] = Math.sqrt(sum)
  }
  return rests
}

type VectorWeight = Pick<Entry, 'vector' | 'rests'>

/** The part of a cosine that single floats lose. */
const tolerance = 1e-5

/** Returns the cosine of two vectors of the length 1; null when it is below the threshold, or they cannot be compared. */
function cosineFrom(threshold: number, one: VectorWeight, other: VectorWeight): number | null {
  const [a, b] = [one.vector, other.vector]
  if (a.length !== b.length) return null
  let cosine = 0
  for (let at = 0; at < one.rests.length; at += 1) {
    const end = Math.min((at + 1) * block, a.length)
    for (let index = at * block; index < end; index += 1) cosine += (a[index] ?? 0) * (b[index] ?? 0)
    // By Cauchy and Schwarz the rest adds no more than the product of both lengths.
    if (cosine + (one.rests[at] ?? 0) * (other.rests[at] ?? 0) < threshold - tolerance) return null
  }
  return cosine
}
