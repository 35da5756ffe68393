import type { Chunks } from '../bytes.ts'
import { fileOf, writeTar, type TarInput } from '../tar/write.ts'
import { sumsFile, signatureFile } from '../sums.ts'
import { DistributionFault } from '../fault.ts'
import { readArtifacts } from '../oci/artifacts.ts'
import { blobPath, parseDocument } from '../oci/documents.ts'
import type { Archive } from './archive.ts'
import { bundleFile, BundleInfo, differenceFile, type Difference } from './contents.ts'
import { readDifference } from './verify.ts'

/**
 * The bytes of `archive` without the layers that `known` has, or itself left out. List and signature stay as they are, so that any holder of a bundle
 * can make a difference, and the receiver still checks the signed bytes.
 */
export async function createDifference(archive: Archive, known: Archive): Promise<{ chunks: Chunks; difference: Difference }> {
  const earlier = await readDifference(known)
  const available = new Set([...known.files.keys(), ...(earlier?.omitted ?? [])])
  const manifests = await documentsOf(archive)
  const omittable = (path: string) => path.startsWith('blobs/') && !manifests.has(path) && available.has(path)
  const before = (await readDifference(archive))?.omitted ?? []
  const omitted = [...new Set([...before, ...[...archive.files.keys()].filter(omittable)])].toSorted()
  const difference = { from: (await infoOf(known)).release, omitted }
  return { difference, chunks: writeTar(members(archive, difference)) }
}

/** Returns the digests of the manifests, which list the contents of a bundle. */
async function documentsOf(archive: Archive): Promise<ReadonlySet<string>> {
  const artifacts = await readArtifacts((await archive.text('index.json')) ?? '', archive.blobs)
  return new Set(artifacts.flatMap(({ manifests }) => manifests.map(({ descriptor }) => blobPath(descriptor.digest))))
}

/** Returns the bundle's own description; it has not been checked. */
export async function infoOf(archive: Archive): Promise<BundleInfo> {
  const text = await archive.text(bundleFile)
  if (text === null) throw new DistributionFault('file_missing', `there is no ${bundleFile}: this is no bundle`)
  return parseDocument(BundleInfo, text, bundleFile)
}

function* members(archive: Archive, difference: Difference): Generator<TarInput> {
  const omitted = new Set(difference.omitted)
  const kept = [...archive.files].filter(([path]) => !omitted.has(path) && path !== differenceFile)
  const file = ([path, size]: readonly [string, number]): TarInput => ({
    path,
    type: 'file',
    mode: 0o644,
    size,
    content: () => archive.read(path),
  })
  yield* kept.filter(isFirst).map(file)
  yield fileOf(differenceFile, Buffer.from(`${JSON.stringify(difference, null, 2)}\n`))
  yield* kept.filter((entry) => !isFirst(entry)).map(file)
}

const isFirst = ([path]: readonly [string, number]) => path === sumsFile || path === signatureFile
