import { open } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { BundleFile } from './bundle.ts'

const blockBytes = 512

/** Writes the files as one .tar.gz that only its owner may read, below a folder of its name; how many bytes it has. Refuses to write over a file. */
export async function writeArchive(file: string, files: readonly BundleFile[]): Promise<number> {
  const folder = path.basename(file).replace(/\.(?:tar\.gz|tgz)$/, '')
  const seconds = Math.trunc(Date.now() / 1000)
  const members = files.flatMap(({ path: name, bytes }) => [
    header(`${folder}/${name}`, bytes.length, seconds),
    bytes,
    padding(bytes.length),
  ])
  const packed = await promisify(gzip)(Buffer.concat([...members, Buffer.alloc(2 * blockBytes)]))
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(packed)
  } finally {
    await handle.close()
  }
  return packed.length
}

const padding = (size: number) => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)

/** A member of an archive in the format of POSIX. The checksum counts its own field as spaces. */
function header(name: string, size: number, seconds: number): Buffer {
  const block = Buffer.alloc(blockBytes)
  const { short, prefix } = split(name)
  block.write(short, 0, 100)
  block.write(`${octal(0o600, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(size, 11)}\0${octal(seconds, 11)}\0${' '.repeat(8)}0`, 100)
  block.write('ustar\u000000', 257)
  block.write(prefix, 345, 155)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148)
  return block
}

const octal = (value: number, width: number) => value.toString(8).padStart(width, '0')

/** Long names are divided at a slash. */
function split(name: string): { readonly short: string; readonly prefix: string } {
  if (Buffer.byteLength(name) <= 100) return { short: name, prefix: '' }
  const at = name.indexOf('/', name.length - 100)
  return { short: name.slice(at + 1), prefix: name.slice(0, at) }
}
