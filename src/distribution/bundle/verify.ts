import type { KeyObject } from 'node:crypto'
import { fingerprint } from '../bytes.ts'
import { DistributionFault } from '../fault.ts'
import { blobsOf, readArtifacts, type Artifact } from '../oci/artifacts.ts'
import { blobPath, parseDocument } from '../oci/documents.ts'
import { verifySums, type Trust } from '../sign.ts'
import { keyFile, parseSums, signatureFile, sumsFile, type Sums } from '../sums.ts'
import type { Archive } from './archive.ts'
import { bundleFile, BundleInfo, Difference, differenceFile } from './contents.ts'

/** A bundle that is unchanged since its signer made it. */
export interface VerifiedBundle {
  readonly info: BundleInfo
  readonly key: KeyObject
  readonly sums: Sums
  readonly artifacts: readonly Artifact[]
  /** The parts that it leaves out; null: none. */
  readonly difference: Difference | null
}

export interface VerifyOptions {
  readonly trust: Trust
  /** Called with the size of each piece that was read. */
  readonly onBytes?: (count: number) => void
}

/** The files that the list does not name: itself, its signature, and parts left out. */
const unlisted: ReadonlySet<string> = new Set([sumsFile, signatureFile, differenceFile])

/**
 * Checks a bundle: the signature of its list, each file against the list, and that the images and charts are whole. Throws
 * DistributionFault naming the file or blob that is changed, missing or too much.
 */
export async function verifyBundle(archive: Archive, { trust, onBytes }: VerifyOptions): Promise<VerifiedBundle> {
  const text = await archive.text(sumsFile)
  if (text === null) throw new DistributionFault('file_missing', `there is no ${sumsFile}: this is no bundle, or not all of it`)
  const signed = { sums: text, signature: await archive.text(signatureFile), key: await archive.text(keyFile) }
  const key = verifySums(signed, trust)
  const sums = parseSums(text)
  const difference = await readDifference(archive)
  checkNames(archive, sums, difference)
  for (const [path, sha256] of sums) {
    if (archive.files.has(path)) await checkContent(archive, { path, sha256 }, onBytes)
  }
  const artifacts = await readArtifacts((await archive.text('index.json')) ?? '', archive.blobs)
  for (const { digest } of blobsOf(artifacts)) {
    if (!sums.has(blobPath(digest)))
      throw new DistributionFault('blob_missing', `${blobPath(digest)} is missing, and ${sumsFile} does not name it`)
  }
  return { info: parseDocument(BundleInfo, (await archive.text(bundleFile)) ?? '', bundleFile), key, sums, artifacts, difference }
}

/** Returns the parts that a bundle leaves out; null when it is whole. */
export async function readDifference(archive: Archive): Promise<Difference | null> {
  const text = await archive.text(differenceFile)
  return text === null ? null : parseDocument(Difference, text, differenceFile)
}

function checkNames(archive: Archive, sums: Sums, difference: Difference | null): void {
  const omitted = new Set(difference?.omitted)
  for (const path of archive.files.keys()) {
    if (!sums.has(path) && !unlisted.has(path)) throw new DistributionFault('file_unlisted', `${path} is not named in ${sumsFile}`)
  }
  for (const path of sums.keys()) {
    if (!archive.files.has(path) && !omitted.has(path)) throw missing(path)
  }
}

async function checkContent(archive: Archive, { path, sha256 }: { path: string; sha256: string }, onBytes?: (count: number) => void) {
  const found = await fingerprint(archive.read(path), onBytes)
  if (found.sha256 !== sha256)
    throw new DistributionFault(
      isBlob(path) ? 'blob_changed' : 'file_changed',
      `${path} is not what was signed: its SHA-256 is ${found.sha256}`,
    )
}

const missing = (path: string) => new DistributionFault(isBlob(path) ? 'blob_missing' : 'file_missing', `${path} is missing`)

const isBlob = (path: string) => path.startsWith('blobs/')
