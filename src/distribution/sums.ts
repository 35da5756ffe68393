import { DistributionFault } from './fault.ts'

/** The list of a folder's or an archive's files with their SHA-256, as `sha256sum` writes and checks it. */
export const sumsFile = 'SHA256SUMS'
/** The signature of that list: ECDSA P-256 over SHA-256, base64, as `cosign verify-blob` takes it. */
export const signatureFile = 'SHA256SUMS.sig'
/** The public key that belongs to the signature. */
export const keyFile = 'gatehouse.pub'

/** SHA-256, hex, by path. */
export type Sums = ReadonlyMap<string, string>

/** The text of a list, in the order of the paths. */
export const formatSums = (sums: Sums): string =>
  [...sums]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, sha256]) => `${sha256}  ${path}\n`)
    .join('')

const line = /^([0-9a-f]{64}) {2}(.+)$/

/** Reads a list. Throws DistributionFault `archive_malformed` for a text that is no list, or names files outside its folder. */
export function parseSums(text: string): Sums {
  const sums = new Map<string, string>()
  for (const entry of text.split('\n').slice(0, -1)) {
    const [, sha256, path] = line.exec(entry) ?? []
    if (sha256 === undefined || path === undefined || !isInside(path) || sums.has(path))
      throw new DistributionFault(
        'archive_malformed',
        `${sumsFile} has the line ${JSON.stringify(entry.slice(0, 200))}, which is not allowed`,
      )
    sums.set(path, sha256)
  }
  if (!text.endsWith('\n')) throw new DistributionFault('archive_malformed', `${sumsFile} breaks off`)
  return sums
}

/** Returns true if a path names a file below the folder that it is relative to. */
export const isInside = (path: string): boolean =>
  /^[^\\\p{Cc}]+$/u.test(path) && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
