import test from 'ava'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { openJournal, type JournalOptions } from '../../../../src/gateway/journal/journal.ts'
import { claim, listDirectories, type JournalOwnership } from '../../../../src/gateway/journal/owner.ts'
import { createLogSeal } from '../../../../src/gateway/journal/log-seal.ts'
import { createSegmentReader } from '../../../../src/gateway/journal/reader.ts'
import { decodeRecord } from '../../../../src/gateway/journal/record.ts'
import { listSegments, retireSegment } from '../../../../src/gateway/journal/segment.ts'
import type { Write } from '../../../../src/gateway/journal/spool.ts'
import { exchangeBodies, exchangeRecord, temporaryDirectory } from '../../../support/journal.ts'

const roots: { remove(): void }[] = []
test.after.always(() => {
  for (const root of roots) root.remove()
})

function open(options: Partial<JournalOptions> = {}) {
  const root = temporaryDirectory()
  roots.push(root)
  const journal = openJournal({ directory: root.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26, ...options })
  return { root: root.path, journal }
}

const segmentsOf = (root: string) => listDirectories(root).flatMap((directory) => listSegments(directory))

/** Every record on disk, in order, with the length of its request body (null: none). */
function readBack(root: string) {
  const read = createSegmentReader()
  return segmentsOf(root).flatMap((segment) => {
    const kept: { id: string; body: number | null; cut: boolean }[] = []
    for (let offset = 0, more = true; more;) {
      const batch = read(segment, { offset, closed: true, maxFrames: 1000, maxBytes: 1 << 20 })
      for (const { frame } of batch.frames) {
        kept.push({ id: decodeRecord(frame.record.toString()).id, body: frame.request?.length ?? null, cut: frame.requestTruncated })
      }
      offset = batch.offset
      more = batch.state === 'more'
    }
    return kept
  })
}

test('what was appended is on disk, in order, at once', (t) => {
  const { root, journal } = open()
  const records = Array.from({ length: 100 }, () => exchangeRecord())
  for (const [index, record] of records.entries()) journal.append(record, exchangeBodies('x'.repeat(index), null))
  t.deepEqual(
    readBack(root),
    records.map(({ id }, index) => ({ id, body: index, cut: false })),
  )
  t.like(journal.stats(), { records: 100, dropped: { body: 0, record: 0 }, fault: null })
})

const guardrailResult = {
  verdict: false,
  name: 'guardrail',
  transformed: false,
  checks: [],
  feedback: null,
  execution_time: 1,
  async: false,
  type: 'guardrail' as const,
  created_at: '2026-01-01T00:00:00.000Z',
  deny: true,
}

for (const sealing of [false, true]) {
  test(`on disk stands ${sealing ? 'nothing of what was said with a seal' : 'what was said without a seal'}`, (t) => {
    const seal = sealing ? createLogSeal(randomBytes(32)) : null
    const held: Buffer[] = []
    const hold: JournalOptions['hold'] = ({ buffers }) => held.push(Buffer.concat(buffers)) > 0
    let full = false
    const write: Write = (fd, buffers, position) => (full ? 0 : fs.writevSync(fd, [...buffers], position))
    const { root, journal } = open({ seal, hold, write })
    const said = ['the-query', 'the-url', 'the-header', 'the-answer-header', 'the-finding', 'the-prompt', 'the-answer']
    const [query, url, header, answerHeader, finding, prompt, answer] = said
    const record = exchangeRecord({
      path: `/search?q=${query}`,
      upstreamUrl: `https://provider.example/${url}`,
      requestHeaders: { 'x-said': header ?? '' },
      responseHeaders: { 'x-said': answerHeader ?? '' },
      hooks: {
        before_request_hooks: [{ ...guardrailResult, id: 'a', feedback: { value: -1, weight: 1, metadata: { words: finding } } }],
        after_request_hooks: [],
      },
    })
    for (const large of ['', 'x'.repeat(100_000)]) {
      journal.append(record, exchangeBodies(`${prompt}${large}`, `${answer}${large}`))
      full = true
      journal.append(record, exchangeBodies(`${prompt}${large}`, `${answer}${large}`))
      full = false
    }
    const texts = [...segmentsOf(root).map((segment) => fs.readFileSync(segment.path, 'latin1')), held.map(String).join('')]
    const seen = said.map((word) => texts.map((text) => text.includes(word)))
    t.deepEqual(
      seen,
      said.map(() => texts.map(() => !sealing)),
    )
    t.is(held.length, 2)
    t.like(journal.stats(), { records: 4, dropped: { body: 0, record: 0 } })
  })
}

test('what cannot be sealed is not written, and counted', (t) => {
  const seal = {
    ...createLogSeal(randomBytes(32)),
    seal: () => {
      throw new Error('this server is sealed')
    },
  }
  const { root, journal } = open({ seal })
  journal.append(exchangeRecord(), exchangeBodies('the-prompt', null))
  t.deepEqual(readBack(root), [])
  t.like(journal.stats(), { records: 0, dropped: { record: 1 }, fault: 'Error: this server is sealed' })
})

test('only the owner can read what was said', (t) => {
  const { root, journal } = open()
  journal.append(exchangeRecord(), exchangeBodies('secret', null))
  const modes = [...listDirectories(root), ...segmentsOf(root).map((segment) => segment.path)].map((file) => fs.statSync(file).mode & 0o77)
  t.deepEqual(modes, [0, 0])
})

test('segments change by size, and a frame larger than a segment has one of its own', (t) => {
  const { root, journal } = open({ segmentBytes: 10_000 })
  const sizes = [3000, 3000, 3000, 50_000, 10, 10]
  for (const size of sizes) journal.append(exchangeRecord(), exchangeBodies('x'.repeat(size), null))
  t.deepEqual(
    readBack(root).map(({ body }) => body),
    sizes,
  )
  t.is(segmentsOf(root).length, 4)
})

test('a shipped file is written over, and its old frames do not come back', (t) => {
  const { root, journal } = open({ segmentBytes: 20_000 })
  for (let count = 0; count < 12; count += 1) journal.append(exchangeRecord(), exchangeBodies('x'.repeat(4000), null))
  const shipped = segmentsOf(root).slice(0, -1)
  const inodes = shipped.map((segment) => fs.statSync(segment.path).ino)
  for (const segment of shipped) retireSegment(segment, { keep: 9, segmentBytes: 20_000 })
  const left = readBack(root).length
  for (let count = 0; count < 4; count += 1) journal.append(exchangeRecord(), exchangeBodies('y'.repeat(4000), null))
  t.is(readBack(root).length, left + 4)
  t.true(inodes.includes(fs.statSync(segmentsOf(root).at(-1)?.path ?? '').ino))
})

test('beyond the limit first bodies are dropped, then records; after shipping everything is kept again', (t) => {
  let now = Date.now()
  const maxSpoolBytes = 400_000
  const { root, journal } = open({ maxSpoolBytes, now: () => now })
  const append = () => journal.append(exchangeRecord(), exchangeBodies('x'.repeat(4000), null))
  for (let count = 0; count < 300; count += 1) append()
  const kept = readBack(root)
  const { dropped, records, bytes, fault } = journal.stats()
  t.deepEqual(
    { whole: kept.filter(({ body }) => body !== null).length, bodiless: kept.filter(({ body, cut }) => body === null && cut).length },
    { whole: records - dropped.body, bodiless: dropped.body },
  )
  t.is(records + dropped.record, 300)
  t.true(dropped.body > 10 && dropped.record > 10)
  t.true(bytes <= maxSpoolBytes && bytes > maxSpoolBytes - 5000)
  t.regex(fault ?? '', /as much as it may/)

  for (const segment of segmentsOf(root).slice(0, -1)) retireSegment(segment, { keep: 2, segmentBytes: 1 << 20 })
  now += 1000
  append()
  t.like(journal.stats(), { records: records + 1, dropped, fault: null })
  t.is(readBack(root).at(-1)?.body, 4000)
})

/** A disk that takes `room` bytes more, as ENOSPC does: the last write is short, then they fail. */
function createDisk(room: number) {
  const disk = { room }
  const write: Write = (fd, buffers, position) => {
    if (disk.room <= 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    const bytes = Buffer.concat([...buffers]).subarray(0, disk.room)
    disk.room -= bytes.length
    return fs.writevSync(fd, [bytes], position)
  }
  return { disk, write }
}

test('a full disk: drops are counted, a short write leaves no trace, and space that returns is used at once', (t) => {
  const { disk, write } = createDisk(20_000)
  const { root, journal } = open({ write })
  for (let count = 0; count < 10; count += 1) journal.append(exchangeRecord(), exchangeBodies('x'.repeat(4000), null))
  const before = journal.stats()
  t.is(before.records + before.dropped.record, 10)
  t.true(before.dropped.record > 0)
  t.is(readBack(root).length, before.records)
  t.regex(before.fault ?? '', /ENOSPC|the disk took/)
  disk.room = 1 << 20
  const record = exchangeRecord()
  journal.append(record, exchangeBodies('y', null))
  t.like(journal.stats(), { records: before.records + 1, dropped: before.dropped, fault: null })
  t.deepEqual(readBack(root).at(-1), { id: record.id, body: 1, cut: false })
})

const smallWrites: Write = (fd, buffers, position) => {
  const length = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
  if (length > 3000) throw new Error('ENOSPC')
  return fs.writevSync(fd, buffers, position)
}

test('where there is room for a record but not for its bodies, the record is kept', (t) => {
  const { root, journal } = open({ write: smallWrites })
  journal.append(exchangeRecord(), exchangeBodies('x'.repeat(4000), null))
  t.like(journal.stats(), { records: 1, dropped: { body: 1, record: 0 } })
  t.like(readBack(root), [{ body: null, cut: true }])
})

test('a directory that cannot be made: drops are counted until it can', (t) => {
  let now = Date.now()
  const root = temporaryDirectory()
  roots.push(root)
  const directory = path.join(root.path, 'journal')
  fs.writeFileSync(directory, 'in the way')
  const journal = openJournal({ directory, maxBodyBytes: 100, maxSpoolBytes: 1 << 20, now: () => now })
  journal.append(exchangeRecord(), exchangeBodies('x', null))
  t.deepEqual(journal.stats().dropped, { body: 0, record: 1 })
  fs.rmSync(directory)
  now += 1000
  journal.append(exchangeRecord(), exchangeBodies('x', null))
  t.like(journal.stats(), { records: 1, dropped: { body: 0, record: 1 } })
})

test('a process that slept while another took its directory writes to a new one', (t) => {
  let now = Date.now()
  const { root, journal } = open({ now: () => now })
  journal.append(exchangeRecord(), exchangeBodies('1', null))
  const [first = ''] = listDirectories(root)
  fs.writeFileSync(path.join(first, 'lock'), JSON.stringify({ role: 'shipper', token: 'other', machine: 'other', pid: 1, started: '' }))
  now += 20_000
  journal.append(exchangeRecord(), exchangeBodies('2', null))
  t.is(listDirectories(root).length, 2)
  t.is(readBack(root).length, 2)
  t.is(listSegments(first).length, 1)
})

test('close leaves the directory to whoever ships, and appending afterwards drops', async (t) => {
  const { root, journal } = open()
  journal.append(exchangeRecord(), exchangeBodies('1', null))
  const [directory = ''] = listDirectories(root)
  t.is(claim(directory, Date.now()), 'writing')
  await journal.close()
  t.is(claim(directory, Date.now()), 'adopted')
  journal.append(exchangeRecord(), exchangeBodies('1', null))
  t.like(journal.stats(), { records: 1, dropped: { body: 0, record: 1 } })
})

test('two journals never share a directory', (t) => {
  const { root } = open()
  openJournal({ directory: root, maxBodyBytes: 100, maxSpoolBytes: 1 << 20 })
  t.is(listDirectories(root).length, 2)
})

const ownership = test.macro({
  exec(t, lock: Record<string, unknown>, ageMs: number, expected: JournalOwnership) {
    const { root } = open()
    const [mine = ''] = listDirectories(root)
    const own = JSON.parse(fs.readFileSync(path.join(mine, 'lock'), 'utf8')) as Record<string, unknown>
    const directory = path.join(root, 'another')
    fs.mkdirSync(directory)
    const file = path.join(directory, 'lock')
    fs.writeFileSync(file, JSON.stringify({ ...own, token: 'other', ...lock }))
    const now = Date.now()
    fs.utimesSync(file, (now - ageMs) / 1000, (now - ageMs) / 1000)
    t.is(claim(directory, now), expected)
  },
  title: (name = '') => `whose directory: ${name}`,
})

const init = process.ppid
const startOf = (pid: number) => fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[19] ?? ''
const onLinux = fs.existsSync('/proc/self/stat') ? test : test.skip

onLinux('a living process', ownership, { pid: init, started: startOf(init) }, 1e9, 'foreign')
onLinux('a pid that was given to another process', ownership, { pid: init, started: '1' }, 0, 'adopted')
test('a dead process', ownership, { pid: 2 ** 22 + 1 }, 0, 'adopted')
test('another machine, seen lately', ownership, { machine: 'other' }, 10_000, 'foreign')
test('another machine, silent', ownership, { machine: 'other' }, 31_000, 'adopted')

const run = promisify(execFile)
const filler = path.join(import.meta.dirname, '../../../support/journal-filler.ts')

onLinux('a file size limit of the system is a full disk: nothing crashes', async (t) => {
  const root = temporaryDirectory()
  roots.push(root)
  const { stdout } = await run('/bin/sh', ['-c', `ulimit -f 64; exec "$0" "$1" "$2"`, process.execPath, filler, root.path])
  const stats = JSON.parse(stdout) as { records: number; dropped: { body: number; record: number } }
  t.is(stats.records + stats.dropped.record, 100)
  t.true(stats.dropped.record + stats.dropped.body > 0)
  t.is(readBack(root.path).length, stats.records)
})
