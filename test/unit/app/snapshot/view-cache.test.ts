import test from 'ava'
import { createViewCache, type LoadedView } from '../../../../src/app/snapshot/view-cache.ts'

const make = (limits: { maxViews?: number; maxMisses?: number } = {}) => {
  const clock = { at: 0 }
  const cache = createViewCache<string>({ maxViews: 10, maxMisses: 10, missTtlMs: 100, ...limits, now: () => clock.at })
  return { cache, clock }
}
const view = (name: string, dependsOn: readonly string[] = [name]): LoadedView<string> => ({ view: name, dependsOn, until: Infinity })

test('a loaded view is a synchronous hit', async (t) => {
  const { cache } = make()
  t.is(cache.hit('a'), undefined)
  await cache.load('a', async () => view('A'))
  t.is(cache.hit('a'), 'A')
})

test('all who ask at the same time share one read', async (t) => {
  const { cache } = make()
  let reads = 0
  const read = async () => {
    reads += 1
    return view('A')
  }
  await Promise.all([cache.load('a', read), cache.load('a', read), cache.load('a', read)])
  t.is(reads, 1)
})

test('a failed read is not kept', async (t) => {
  const { cache } = make()
  await t.throwsAsync(
    cache.load('a', () => Promise.reject(new Error('away'))),
    { message: 'away' },
  )
  t.is(await cache.load('a', async () => view('A')), 'A')
})

test('absence is kept for its time, and forgotten on command', async (t) => {
  const { cache, clock } = make()
  await cache.load('a', async () => null)
  t.is(cache.hit('a'), null)
  clock.at = 101
  t.is(cache.hit('a'), undefined)
  await cache.load('a', async () => null)
  cache.forgetMisses()
  t.is(cache.hit('a'), undefined)
})

test('a change of any row that a view is made of drops it, and only it', async (t) => {
  const { cache } = make()
  await cache.load('a', async () => view('A', ['key-1', 'workspace']))
  await cache.load('b', async () => view('B', ['key-2', 'workspace']))
  cache.forget('key-1')
  t.deepEqual([cache.hit('a'), cache.hit('b')], [undefined, 'B'])
  cache.forget('workspace')
  t.is(cache.hit('b'), undefined)
})

test('a row that changes while it is read is read again', async (t) => {
  const { cache } = make()
  const rows = ['before', 'after']
  const read = async () => {
    const row = rows.shift() ?? 'too often'
    if (row === 'before') cache.forget('key-1')
    return view(row, ['key-1'])
  }
  t.is(await cache.load('a', read), 'after')
  t.is(cache.hit('a'), 'after')
})

test('another row that changes meanwhile does not matter', async (t) => {
  const { cache } = make()
  let reads = 0
  const read = async () => {
    reads += 1
    cache.forget('key-2')
    return view('A', ['key-1'])
  }
  await cache.load('a', read)
  t.is(reads, 1)
})

test('a row that appears while its absence is read is found', async (t) => {
  const { cache } = make()
  const rows = [null, view('A')]
  const read = async () => {
    const row = rows.shift() ?? null
    if (row === null) cache.forgetMisses()
    return row
  }
  t.is(await cache.load('a', read), 'A')
})

test('a row that changes at every read is given out and not kept', async (t) => {
  const { cache } = make()
  let reads = 0
  const read = async () => {
    cache.forget('key-1')
    return view(`A${(reads += 1)}`, ['key-1'])
  }
  t.is(await cache.load('a', read), 'A3')
  t.is(cache.hit('a'), undefined)
})

test('clearing outdates what is being read', async (t) => {
  const { cache } = make()
  let reads = 0
  const read = async () => {
    if ((reads += 1) === 1) cache.clear()
    return view(`A${reads}`)
  }
  t.is(await cache.load('a', read), 'A2')
})

test('a view ends at its time without any event', async (t) => {
  const { cache, clock } = make()
  await cache.load('a', async () => ({ ...view('A'), until: 50 }))
  clock.at = 49
  t.is(cache.hit('a'), 'A')
  clock.at = 50
  t.is(cache.hit('a'), undefined)
})

test('the view that was used longest ago gives way', async (t) => {
  const { cache } = make({ maxViews: 2 })
  await cache.load('a', async () => view('A'))
  await cache.load('b', async () => view('B'))
  cache.hit('a')
  await cache.load('c', async () => view('C'))
  t.deepEqual([cache.hit('a'), cache.hit('b'), cache.hit('c')], ['A', undefined, 'C'])
})

test('what is absent is bounded too', async (t) => {
  const { cache } = make({ maxMisses: 2 })
  for (const key of ['a', 'b', 'c']) await cache.load(key, async () => null)
  t.deepEqual([cache.hit('a'), cache.hit('b'), cache.hit('c')], [undefined, null, null])
})
