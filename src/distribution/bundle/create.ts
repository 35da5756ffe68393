import type { KeyObject } from 'node:crypto'
import { fingerprint, readFileChunks, type Chunks } from '../bytes.ts'
import { publicPem, signText } from '../sign.ts'
import { formatSums, keyFile, signatureFile, sumsFile } from '../sums.ts'
import { fileOf, writeTar, type TarInput } from '../tar/write.ts'
import { bundleFile, type BundleInfo } from './contents.ts'

/** A file of the bundle: on disk, or made here. */
export interface BundleFile {
  readonly path: string
  readonly from: string | Uint8Array
}

export interface CreateOptions {
  readonly info: BundleInfo
  /** Everything but the list, its signature, the key and `bundle.json`. */
  readonly files: readonly BundleFile[]
  readonly key: KeyObject
  /** Called with the size of each piece that was read. */
  readonly onBytes?: (count: number) => void
}

/** The bytes of a new bundle. Parts that a reader needs first come first, blobs last; the same content and key differ only in the signature. */
export async function createBundle({ info, files, key, onBytes }: CreateOptions): Promise<Chunks> {
  const own: BundleFile[] = [
    { path: bundleFile, from: Buffer.from(`${JSON.stringify(info, null, 2)}\n`) },
    { path: keyFile, from: Buffer.from(publicPem(key)) },
  ]
  const all = [...own, ...files].toSorted((one, other) => rank(one.path) - rank(other.path) || (one.path < other.path ? -1 : 1))
  const measured = new Map<string, { sha256: string; size: number }>()
  for (const { path, from } of all) measured.set(path, await fingerprint(contentOf(from), onBytes))
  const sums = formatSums(new Map([...measured].map(([path, { sha256 }]) => [path, sha256])))
  const first = [fileOf(sumsFile, Buffer.from(sums)), fileOf(signatureFile, Buffer.from(`${signText(sums, key)}\n`))]
  const rest = all.map(({ path, from }): TarInput => ({
    path,
    type: 'file',
    mode: 0o644,
    size: measured.get(path)?.size ?? 0,
    content: () => contentOf(from),
  }))
  return writeTar([...first, ...rest])
}

/** The order of a bundle's files. */
function rank(path: string): number {
  if (path === bundleFile || path === keyFile) return 0
  if (path.startsWith('blobs/')) return 3
  return path.includes('/') ? 2 : 1
}

const contentOf = (from: BundleFile['from']): Chunks => (typeof from === 'string' ? readFileChunks(from) : [from])
