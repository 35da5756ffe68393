import { DistributionFault } from '../fault.ts'
import { readText, type Chunks } from '../bytes.ts'
import { blobPath, Index, isIndex, isRepository, Manifest, parseDocument, refName, type Descriptor } from './documents.ts'

/** A store of blobs by digest: a folder, or a part of an archive. */
export interface Blobs {
  /** How many bytes a blob has; null when it is not there. */
  size(digest: string): Promise<number | null>
  read(digest: string): Chunks
}

/** Something that a registry stores under a name: an image of one or more platforms, or a chart. */
export interface Artifact {
  /** The repository, such as `gatehouse` or `charts/app`. */
  readonly name: string
  readonly tag: string
  readonly descriptor: Descriptor
  /** Its manifests with the content to send, those that others refer to first. */
  readonly manifests: readonly { readonly descriptor: Descriptor; readonly text: string; readonly blobs: readonly Descriptor[] }[]
}

const largestDocument = 4 * 1024 * 1024

/** Returns the artifacts of an index with all their parts. Throws DistributionFault when a manifest is missing or malformed. */
export async function readArtifacts(index: string, blobs: Blobs): Promise<readonly Artifact[]> {
  const { manifests } = parseDocument(Index, index, 'index.json')
  return Promise.all(manifests.map((descriptor) => readArtifact(descriptor, blobs)))
}

async function readArtifact(descriptor: Descriptor, blobs: Blobs): Promise<Artifact> {
  const reference = descriptor.annotations?.[refName] ?? ''
  const [, name, tag] = /^([^:]+):([\w][\w.-]{0,127})$/.exec(reference) ?? []
  if (name === undefined || tag === undefined || !isRepository(name))
    throw new DistributionFault(
      'manifest_malformed',
      `index.json lists ${descriptor.digest} under the name "${reference}": write <repository>:<tag>`,
    )
  return { name, tag, descriptor, manifests: await readManifests(descriptor, blobs) }
}

async function readManifests(descriptor: Descriptor, blobs: Blobs): Promise<Artifact['manifests']> {
  const text = await readDocument(descriptor, blobs)
  const what = `the manifest ${descriptor.digest}`
  if (!isIndex(descriptor)) {
    const { config, layers } = parseDocument(Manifest, text, what)
    return [{ descriptor, text, blobs: [config, ...layers] }]
  }
  const { manifests } = parseDocument(Index, text, what)
  if (manifests.some(isIndex)) throw new DistributionFault('manifest_malformed', `${what} lists lists`)
  const children = await Promise.all(manifests.map((child) => readManifests(child, blobs)))
  return [...children.flat(), { descriptor, text, blobs: [] }]
}

/** The text of a manifest or a configuration. */
export async function readDocument({ digest }: Descriptor, blobs: Blobs): Promise<string> {
  const size = await blobs.size(digest)
  if (size === null) throw new DistributionFault('blob_missing', `${blobPath(digest)} is missing`)
  if (size > largestDocument) throw new DistributionFault('manifest_malformed', `the manifest ${digest} has ${size} bytes`)
  return readText(blobs.read(digest), largestDocument)
}

/** Every blob of the artifacts, manifests included, once each. */
export function blobsOf(artifacts: readonly Artifact[]): readonly Descriptor[] {
  const all = artifacts.flatMap(({ manifests }) => manifests.flatMap(({ descriptor, blobs }) => [descriptor, ...blobs]))
  return [...new Map(all.map((descriptor) => [descriptor.digest, descriptor])).values()]
}
