import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { DistributionFault } from '../../../src/distribution/fault.ts'
import { encodeHeader } from '../../../src/distribution/tar/header.ts'
import { scanTar } from '../../../src/distribution/tar/scan.ts'
import { streamSource } from '../../../tools/release/stream-source.ts'
import { fileOf, writeTar, type TarInput } from '../../../src/distribution/tar/write.ts'

const bytesOf = async (members: readonly TarInput[]) => Buffer.concat(await Array.fromAsync(writeTar(members)))

/** The members of an archive with their content; the bytes come in pieces of an odd size. */
async function read(archive: Buffer, pieceBytes = 700) {
  const pieces = Array.from({ length: Math.ceil(archive.length / pieceBytes) }, (_, at) =>
    archive.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
  const source = streamSource(
    (async function* () {
      yield* pieces
    })(),
  )
  const found = []
  for await (const { path: name, type, mode, size, target } of scanTar(source))
    found.push({ path: name, type, mode, target, text: (await source.read(size)).toString() })
  return found
}

function scratch(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-tar-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

const deep = (length: number) =>
  Array.from({ length: Math.ceil(length / 40) }, () => 'd'.repeat(39))
    .join('/')
    .slice(0, length)

/** Names that fit the header's fields, are divided over them, or need an extended header. */
const names = [
  'short',
  'a'.repeat(100),
  `${'b'.repeat(80)}/${'c'.repeat(80)}`,
  'n'.repeat(200),
  deep(99),
  deep(101),
  deep(255),
  deep(300),
  'grüße/日本語.txt',
]

test('what is written is read back, and by GNU tar too', async (t) => {
  const members: TarInput[] = [
    ...names.map((name, at) => fileOf(name, Buffer.from(`content ${at}`))),
    { path: 'empty folder', type: 'folder', mode: 0o755 },
    { path: 'link', type: 'link', mode: 0o777, target: `../${'t'.repeat(150)}` },
    { path: 'program', type: 'file', mode: 0o755, size: 512, content: () => [Buffer.alloc(512, 'x')] },
    fileOf('nothing', Buffer.alloc(0)),
  ]
  const archive = await bytesOf(members)
  const expected = members.map(({ path: name, type, mode, target = '', content }) => ({
    path: name,
    type,
    mode,
    target,
    text: Buffer.concat([...((content?.() ?? []) as Iterable<Buffer>)]).toString(),
  }))
  t.deepEqual(await read(archive), expected)
  t.deepEqual(await bytesOf(members), archive)
  const file = path.join(scratch(t), 'a.tar')
  writeFileSync(file, archive)
  const listed = execFileSync('tar', ['--quoting-style=literal', '-tf', file], { encoding: 'utf8', env: { LC_ALL: 'C.UTF-8' } })
  t.deepEqual(
    listed.trimEnd().split('\n'),
    members.map(({ path: name, type }) => (type === 'folder' ? `${name}/` : name)),
  )
})

for (const format of ['gnu', 'pax', 'ustar'])
  test(`an archive that GNU tar wrote as ${format} is read`, async (t) => {
    const folder = scratch(t)
    const long = format === 'ustar' ? deep(200) : deep(300)
    mkdirSync(path.join(folder, 'in', path.dirname(long)), { recursive: true })
    writeFileSync(path.join(folder, 'in', long), 'deep')
    writeFileSync(path.join(folder, 'in', 'plain'), 'x'.repeat(1500), { mode: 0o640 })
    symlinkSync('plain', path.join(folder, 'in', 'link'))
    execFileSync('tar', [`--format=${format}`, '-cf', path.join(folder, 'a.tar'), '-C', path.join(folder, 'in'), '.'])
    const found = await read(readFileSync(path.join(folder, 'a.tar')))
    const member = (name: string) => found.find(({ path: each }) => each === name)
    t.like(member(long), { type: 'file', text: 'deep' })
    t.like(member('plain'), { type: 'file', text: 'x'.repeat(1500), mode: 0o640 })
    t.like(member('link'), { type: 'link', target: 'plain', text: '' })
    t.is(member(path.dirname(long))?.type, 'folder')
  })

test('a file may be larger than the octal field', (t) => {
  const size = 9 * 1024 ** 3
  const header = encodeHeader({ path: 'big', type: 'file', mode: 0o644, size, target: '' }, 0)
  t.is(header.length, 512)
  t.is(header[124], 0x80)
  t.is(Number(header.readBigUInt64BE(128)), size)
})

const sound = await bytesOf([fileOf('first', Buffer.from('1')), fileOf('second', Buffer.from('2'))])
const changed = (change: (archive: Buffer) => Buffer | undefined) => {
  const copy = Buffer.from(sound)
  return change(copy) ?? copy
}
const flip = (at: number) => changed((archive) => void archive.writeUInt8((archive[at] ?? 0) ^ 1, at))
const extended = (body: string, size = body.length) => {
  const header = encodeHeader({ path: 'x', type: 'file', mode: 0o644, size, target: '' }, 0)
  header.write('x', 156)
  header.write(
    `${header
      .reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  return Buffer.concat([header, Buffer.from(body.padEnd(512, '\0')), sound])
}

const malformed: readonly (readonly [what: string, archive: Buffer, message: RegExp])[] = [
  ['a bit in a name', flip(2), /header at byte 0 .* checksum/],
  ['a bit in the second header', flip(1024 + 130), /header at byte 1024 .* checksum/],
  ['nothing', Buffer.alloc(0), /breaks off at byte 0/],
  ['half a header', sound.subarray(0, 300), /breaks off at byte 300/],
  ['no end', sound.subarray(0, 2048), /breaks off at byte 2048/],
  ['half a content', sound.subarray(0, 1600), /breaks off at byte 1600/],
  ['an extended header that is none', extended('nonsense'), /extended header cannot be read/],
  ['an extended header with an endless record', extended('0 path=x\n'), /extended header cannot be read/],
  ['an extended header of a gigabyte', extended('', 1024 ** 3), /extended header has 1073741824 bytes/],
  ['a size that is none', extended('19 size=12345678x\n\n'), /has no size/],
]
for (const [what, archive, message] of malformed)
  test(`refused: ${what}`, async (t) => {
    const error = await t.throwsAsync(read(archive), { instanceOf: DistributionFault, message })
    t.is(error?.code, 'archive_malformed')
  })

test('a file of another size than announced is not written', async (t) => {
  await t.throwsAsync(bytesOf([{ path: 'short', type: 'file', mode: 0o644, size: 5, content: () => [Buffer.from('1234')] }]), {
    message: 'short has 4 bytes, and 5 were announced',
  })
})
