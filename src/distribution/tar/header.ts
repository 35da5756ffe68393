import { DistributionFault } from '../fault.ts'

/** Headers and contents fill whole blocks of this many bytes. */
export const blockSize = 512

/** One member of an archive. Owner and time are the same for all: root, and the archive's own. */
export interface TarMember {
  /** With `/`, and without one at the beginning or the end. */
  readonly path: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  /** Permission bits. */
  readonly mode: number
  /** Bytes of content; 0 unless it is a file. */
  readonly size: number
  /** The target of a link. */
  readonly target: string
}

const typeFlags = { file: '0', folder: '5', link: '2', other: '0' } as const

/** The header of a member, with an extended one before it when the path or the target is too long. */
export function encodeHeader(member: TarMember, seconds: number): Buffer {
  const path = member.type === 'folder' ? `${member.path}/` : member.path
  const name = splitName(path)
  const target = Buffer.byteLength(member.target) <= 100 ? member.target : null
  const long = { ...(name === null && { path }), ...(target === null && { linkpath: member.target }) }
  const fields = { ...(name ?? { name: path.slice(0, 50), prefix: '' }), target: target ?? '' }
  const header = ustar({ ...fields, flag: typeFlags[member.type], mode: member.mode, size: member.size, seconds })
  return Object.keys(long).length === 0 ? header : Buffer.concat([extended(long, seconds), header])
}

/** Returns the bytes that fill the last block of a content. */
export const padding = (size: number): Buffer => Buffer.alloc((blockSize - (size % blockSize)) % blockSize)

/** Divides a path over the two fields of a header; null when it does not fit. */
function splitName(path: string): { readonly name: string; readonly prefix: string } | null {
  const bytes = Buffer.from(path)
  if (bytes.length <= 100) return { name: path, prefix: '' }
  const slash = bytes.indexOf('/', bytes.length - 101)
  if (slash < 1 || slash > 155 || slash === bytes.length - 1) return null
  return { name: bytes.toString('utf8', slash + 1), prefix: bytes.toString('utf8', 0, slash) }
}

interface Fields {
  readonly name: string
  readonly prefix: string
  readonly target: string
  readonly flag: string
  readonly mode: number
  readonly size: number
  readonly seconds: number
}

function ustar({ name, prefix, target, flag, mode, size, seconds }: Fields): Buffer {
  const block = Buffer.alloc(blockSize)
  block.write(name, 0)
  block.write(octal(mode, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  writeSize(block, size)
  block.write(octal(seconds, 12), 136)
  block.write(' '.repeat(8), 148)
  block.write(flag, 156)
  block.write(target, 157)
  block.write('ustar\u000000', 257)
  block.write(prefix, 345)
  block.write(`${sum(block).toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`

const largestOctal = 8 ** 11 - 1

/** From 8 GiB on, GNU's binary form, which every tar of today reads. */
function writeSize(block: Buffer, size: number): void {
  if (size <= largestOctal) return void block.write(octal(size, 12), 124)
  block.writeUInt8(0x80, 124)
  block.writeBigUInt64BE(BigInt(size), 128)
}

/** The checksum counts its own field as spaces. */
const sum = (block: Buffer) => block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)

function extended(records: Readonly<Record<string, string>>, seconds: number): Buffer {
  const body = Buffer.from(Object.entries(records).map(paxRecord).join(''))
  const header = ustar({ name: 'extended', prefix: '', target: '', flag: 'x', mode: 0o644, size: body.length, seconds })
  return Buffer.concat([header, body, padding(body.length)])
}

/** `<length> <key>=<value>`, where the length counts its own digits. */
function paxRecord([key, value]: readonly [string, string]): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  const length = bytes + String(bytes + String(bytes).length).length
  return `${length}${rest}`
}

/** A header as it stands in the archive. `flag` is the kind: `0` a file, `5` a folder, `2` a link, `x` an extension … */
export interface RawHeader {
  readonly name: string
  readonly flag: string
  readonly mode: number
  readonly size: number
  readonly target: string
}

const noStart = ': this is no tar archive, or not the first part of one'

/** Returns the checksum that the block states; null when it states none. */
const checksum = (block: Buffer) => (/^ *[0-7]+$/.test(text(block, 148, 8).trimEnd()) ? number(block, 148, 8) : null)

/** Reads the header block at a byte of the archive; null for the zeros that end it. Throws DistributionFault `archive_malformed`. */
export function decodeHeader(block: Buffer, at: number): RawHeader | null {
  if (block.every((byte) => byte === 0)) return null
  if (block.length !== blockSize || checksum(block) !== sum(block))
    throw new DistributionFault(
      'archive_malformed',
      `the header at byte ${at} of the archive has a wrong checksum${at === 0 ? noStart : ''}`,
    )
  const prefix = block.toString('latin1', 257, 262) === 'ustar' && block[262] === 0 ? text(block, 345, 155) : ''
  const name = text(block, 0, 100)
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    flag: block.toString('latin1', 156, 157),
    mode: number(block, 100, 8) & 0o7777,
    size: number(block, 124, 12),
    target: text(block, 157, 100),
  }
}

function text(block: Buffer, start: number, length: number): string {
  const end = block.indexOf(0, start)
  return block.toString('utf8', start, end === -1 || end > start + length ? start + length : end)
}

function number(block: Buffer, start: number, length: number): number {
  if ((block[start] ?? 0) & 0x80) return Number(block.readBigUInt64BE(start + length - 8))
  const digits = text(block, start, length).trim()
  if (digits !== '' && !/^[0-7]+$/.test(digits))
    throw new DistributionFault('archive_malformed', `a header holds ${JSON.stringify(digits)} where a number belongs`)
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}
