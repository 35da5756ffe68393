import { DistributionFault } from '../fault.ts'
import { blockSize, decodeHeader, type RawHeader, type TarMember } from './header.ts'

/** Bytes that are read once, from front to end. */
export interface ByteSource {
  /** Bytes read or skipped so far. */
  readonly position: number
  /** The next bytes; fewer only at the end. */
  read(length: number): Promise<Buffer>
  skip(length: number): Promise<void>
}

/** A member, and where in the source its content begins. */
export interface ScannedMember extends TarMember {
  readonly offset: number
}

const mostExtended = 1024 * 1024
const types: Readonly<Record<string, TarMember['type']>> = { '0': 'file', '\0': 'file', '5': 'folder', '2': 'link' }

/**
 * The members of an archive. Between two of them the source may be read up to the end of the content. Supports the extensions of POSIX and GNU for
 * long names. Throws DistributionFault `archive_malformed`.
 */
export async function* scanTar(source: ByteSource): AsyncGenerator<ScannedMember> {
  const long: Long = {}
  for (;;) {
    const header = await nextHeader(source)
    if (header === null) return
    const offset = source.position
    if (header.flag in extensions) {
      Object.assign(long, await readExtension(source, header))
    } else {
      const size = long.size ?? header.size
      if (!Number.isSafeInteger(size)) throw new DistributionFault('archive_malformed', `${header.name} has no size`)
      const type = types[header.flag] ?? 'other'
      const path = (long.path ?? header.name).replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')
      yield { path, type, mode: header.mode, size: type === 'file' ? size : 0, target: long.target ?? header.target, offset }
      await skipTo(source, offset + roundUp(size))
      Object.assign(long, { path: undefined, target: undefined, size: undefined })
    }
  }
}

async function nextHeader(source: ByteSource): Promise<RawHeader | null> {
  const at = source.position
  const block = await source.read(blockSize)
  if (block.length < blockSize) throw new DistributionFault('archive_malformed', `the archive breaks off at byte ${at + block.length}`)
  return decodeHeader(block, at)
}

async function skipTo(source: ByteSource, position: number): Promise<void> {
  await source.skip(position - source.position)
  if (source.position < position) throw new DistributionFault('archive_malformed', `the archive breaks off at byte ${source.position}`)
}

const roundUp = (size: number) => Math.ceil(size / blockSize) * blockSize

interface Long {
  readonly path?: string | undefined
  readonly target?: string | undefined
  readonly size?: number | undefined
}

const untilZero = (body: Buffer) => body.toString('utf8').replace(/\0.*$/s, '')

const extensions: Readonly<Record<string, (body: Buffer) => Long>> = {
  L: (body) => ({ path: untilZero(body) }),
  K: (body) => ({ target: untilZero(body) }),
  x: readPax,
  g: () => ({}),
}

async function readExtension(source: ByteSource, { flag, size }: RawHeader): Promise<Long> {
  if (size > mostExtended) throw new DistributionFault('archive_malformed', `an extended header has ${size} bytes`)
  const body = (await source.read(roundUp(size))).subarray(0, size)
  return extensions[flag]?.(body) ?? {}
}

function readPax(body: Buffer): Long {
  const records: Record<string, string> = Object.create(null)
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(0x20, at)
    const length = Number(body.toString('latin1', at, space))
    const equals = body.indexOf(0x3d, space)
    if (!(length > 0) || space === -1 || equals === -1)
      throw new DistributionFault('archive_malformed', 'an extended header cannot be read')
    records[body.toString('utf8', space + 1, equals)] = body.toString('utf8', equals + 1, at + length - 1)
    at += length
  }
  const { path, linkpath, size } = records
  return {
    ...(path !== undefined && { path }),
    ...(linkpath !== undefined && { target: linkpath }),
    ...(size !== undefined && { size: Number(size) }),
  }
}
