import { DistributionFault } from '../fault.ts'
import { blobPath } from '../oci/documents.ts'
import type { Artifact, Blobs } from '../oci/artifacts.ts'
import type { Registry } from './registry.ts'
import { repositoryOf, type RegistryTarget } from './target.ts'

/** What was sent of one artifact. */
export interface Pushed {
  /** As an image is named: `registry.example:5000/gatehouse:1.12.0`. */
  readonly reference: string
  readonly digest: string
  /** Blobs that were sent, and that the registry had already. */
  readonly sent: number
  readonly known: number
}

export interface PushOptions {
  readonly target: RegistryTarget
  readonly registry: Registry
  readonly blobs: Blobs
  /** Told of each step. */
  readonly onStep?: (text: string) => void
  readonly onBytes?: (count: number) => void
}

/** What the registry has under the tags of the artifacts: the same, something else, or nothing. */
export async function compareTags(artifacts: readonly Artifact[], { target, registry }: PushOptions) {
  const found = []
  for (const { name, tag, descriptor } of artifacts) {
    const digest = await registry.findManifest(repositoryOf(target, name), tag)
    const state: 'absent' | 'different' | 'same' = digest === null ? 'absent' : digest === descriptor.digest ? 'same' : 'different'
    found.push({ reference: referenceOf(target, { name, tag }), digest, state })
  }
  return found
}

const referenceOf = (target: RegistryTarget, { name, tag }: { name: string; tag: string }) =>
  `${target.host}/${repositoryOf(target, name)}:${tag}`

/** Sends what the registry lacks of the artifacts, and names them last. Stopped in the middle, the next call goes on. */
export async function pushArtifacts(artifacts: readonly Artifact[], options: PushOptions): Promise<readonly Pushed[]> {
  const pushed: Pushed[] = []
  for (const artifact of artifacts) pushed.push(await pushArtifact(artifact, options))
  return pushed
}

async function pushArtifact(artifact: Artifact, options: PushOptions): Promise<Pushed> {
  const { target, registry, onStep } = options
  const repository = repositoryOf(target, artifact.name)
  const reference = referenceOf(target, artifact)
  const wanted = [...new Map(artifact.manifests.flatMap(({ blobs }) => blobs).map((blob) => [blob.digest, blob])).values()]
  let sent = 0
  for (const blob of wanted) {
    if (await registry.hasBlob(repository, blob.digest)) continue
    if ((await options.blobs.size(blob.digest)) === null)
      throw new DistributionFault(
        'blob_missing',
        `${blobPath(blob.digest)} was left out, and ${target.host}/${repository} does not have it: load the earlier bundle first`,
      )
    onStep?.(`${reference}: sending ${blob.digest}, ${blob.size} bytes`)
    await registry.putBlob(repository, blob, () => counted(options.blobs.read(blob.digest), options.onBytes))
    sent++
  }
  for (const { descriptor, text } of artifact.manifests) {
    const tag = descriptor === artifact.descriptor ? artifact.tag : descriptor.digest
    const stored = await registry.putManifest(repository, tag, { mediaType: descriptor.mediaType, text })
    if (stored !== null && stored !== descriptor.digest)
      throw new DistributionFault('registry_refused', `${target.host} stored ${reference} as ${stored} instead of ${descriptor.digest}`)
  }
  onStep?.(`${reference}@${artifact.descriptor.digest}`)
  return { reference, digest: artifact.descriptor.digest, sent, known: wanted.length - sent }
}

async function* counted(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, onBytes?: (count: number) => void) {
  for await (const chunk of chunks) {
    onBytes?.(chunk.length)
    yield chunk
  }
}
