import test from 'ava'
import { createNearMemory } from '../../../../src/app/cache/near-memory.ts'
import type { PlacedAnswer } from '../../../../src/gateway/cache/vectors.ts'

const scope = (organisationId: string) => ({ organisationId, workspaceId: null, namespace: '' })

function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => number / length)
}

const random = (dimensions: number) => Array.from({ length: dimensions }, () => Math.random() - 0.5)

/** A vector that is about so far from another. */
const near = (vector: Float32Array, distance: number) =>
  unit(random(vector.length).map((number, at) => (vector[at] ?? 0) + number * distance))

const placed = (key: string, vector: Float32Array, more: Partial<PlacedAnswer> = {}): PlacedAnswer => ({
  key,
  scope: scope('one'),
  partition: 'p',
  vector,
  askedAt: 0,
  expiresAt: Date.now() + 60_000,
  ...more,
})

const dot = (one: Float32Array, other: Float32Array) => one.reduce((sum, number, at) => sum + number * (other[at] ?? 0), 0)

for (const dimensions of [3, 64, 65, 200, 1536])
  test(`finds what comparing every vector in full finds, with ${dimensions} dimensions`, (t) => {
    const memory = createNearMemory({ most: 1e9, mostOfOne: 1e9 })
    const asked = unit(random(dimensions))
    const kept = Array.from({ length: 60 }, (_, at) => near(asked, (at % 12) * 0.01 * Math.sqrt(200 / dimensions)))
    kept.forEach((vector, at) => memory.put(placed(String(at), vector)))
    for (const threshold of [0.5, 0.8, 0.95, 0.99]) {
      const expected = kept
        .map((vector, at) => ({ key: String(at), cosine: dot(asked, vector) }))
        .filter(({ cosine }) => cosine >= threshold)
        .toSorted((one, other) => other.cosine - one.cosine)
      const found = memory.nearest({ scope: scope('one'), partition: 'p', vector: asked }, threshold)
      t.is(found.length, Math.min(3, expected.length))
      t.is(found[0], expected[0]?.key)
    }
  })

test('finds nothing of another partition or organisation, of another number of dimensions, or that has expired', (t) => {
  const memory = createNearMemory({ most: 1e9, mostOfOne: 1e9 })
  const vector = unit([1, 2, 3])
  memory.put(placed('other partition', vector, { partition: 'q' }))
  memory.put(placed('other organisation', vector, { scope: scope('two') }))
  memory.put(placed('expired', vector, { expiresAt: Date.now() - 1 }))
  memory.put(placed('longer', unit([1, 2, 3, 0])))
  const asked = { scope: scope('one'), partition: 'p', vector }
  t.deepEqual(memory.nearest(asked, 0.5), [])
  memory.put(placed('own', vector))
  t.deepEqual(memory.nearest(asked, 1), ['own'])
  memory.forget('two')
  t.deepEqual(memory.nearest(asked, 1), ['own'])
  memory.forget('one')
  t.deepEqual(memory.nearest(asked, 1), [])
  t.is(memory.bytes(), 0)
})

test('keeps within its bounds: the oldest of the organisation with the most gives way', (t) => {
  const weight = 64 * 4 + 400
  const memory = createNearMemory({ most: weight * 10, mostOfOne: weight * 6 })
  const vector = unit(random(64))
  const put = (organisation: string, count: number) => {
    for (let at = 0; at < count; at += 1) memory.put(placed(`${organisation}${at}`, vector, { scope: scope(organisation) }))
  }
  put('one', 8)
  t.is(memory.size(), 6)
  put('two', 6)
  t.is(memory.size(), 10)
  t.is(memory.bytes(), weight * 10)
  t.deepEqual(memory.nearest({ scope: scope('one'), partition: 'p', vector }, 0.9).includes('one2'), false)
  put('two', 1)
  t.is(memory.size(), 10)
  memory.clear()
  t.is(memory.bytes(), 0)
})
