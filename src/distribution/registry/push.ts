import { DistributionFault } from '../fault.ts'
import { blobPath, type Descriptor } from '../oci/documents.ts'
import type { Artifact, Blobs } from '../oci/artifacts.ts'
import type { Registry } from './registry.ts'
import { repositoryOf, type RegistryTarget } from './target.ts'

/** The sent parts of one artifact. */
export interface PushResult {
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
  /** Called with the title of each step. */
  readonly onStep?: (text: string) => void
  readonly onBytes?: (count: number) => void
}

/** Compares the tags of the artifacts with the registry: the same, another artifact, or none. */
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

/**
 * Sends the blobs of the artifacts that the registry lacks, and names them last. Stopped in the middle, the next call goes on. Throws
 * DistributionFault `blob_missing`, before anything is sent, when neither we nor the registry have all of it.
 */
export async function pushArtifacts(artifacts: readonly Artifact[], options: PushOptions): Promise<readonly PushResult[]> {
  const plans: Plan[] = []
  for (const artifact of artifacts) plans.push(await planArtifact(artifact, options))
  const pushed: PushResult[] = []
  for (const plan of plans) pushed.push(await pushArtifact(plan, options))
  return pushed
}

/** The parts of one artifact that are to be sent. */
interface Plan {
  readonly artifact: Artifact
  readonly missing: readonly Descriptor[]
  readonly known: number
}

async function planArtifact(artifact: Artifact, { target, registry, blobs }: PushOptions): Promise<Plan> {
  const repository = repositoryOf(target, artifact.name)
  const wanted = [...new Map(artifact.manifests.flatMap((manifest) => manifest.blobs).map((blob) => [blob.digest, blob])).values()]
  const missing: Descriptor[] = []
  for (const blob of wanted) {
    if (await registry.hasBlob(repository, blob.digest)) continue
    if ((await blobs.size(blob.digest)) === null)
      throw new DistributionFault(
        'blob_missing',
        `${blobPath(blob.digest)} was left out, and ${target.host}/${repository} does not have it: load the earlier bundle first`,
      )
    missing.push(blob)
  }
  return { artifact, missing, known: wanted.length - missing.length }
}

async function pushArtifact({ artifact, missing, known }: Plan, options: PushOptions): Promise<PushResult> {
  const { target, registry, onStep } = options
  const repository = repositoryOf(target, artifact.name)
  const reference = referenceOf(target, artifact)
  for (const blob of missing) {
    onStep?.(`${reference}: sending ${blob.digest}, ${blob.size} bytes`)
    await registry.putBlob(repository, blob, () => counted(options.blobs.read(blob.digest), options.onBytes))
  }
  for (const { descriptor, text } of artifact.manifests) {
    const tag = descriptor === artifact.descriptor ? artifact.tag : descriptor.digest
    const stored = await registry.putManifest(repository, tag, { mediaType: descriptor.mediaType, text })
    if (stored !== null && stored !== descriptor.digest)
      throw new DistributionFault('registry_refused', `${target.host} stored ${reference} as ${stored} instead of ${descriptor.digest}`)
  }
  onStep?.(`${reference}@${artifact.descriptor.digest}`)
  return { reference, digest: artifact.descriptor.digest, sent: missing.length, known }
}

async function* counted(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, onBytes?: (count: number) => void) {
  for await (const chunk of chunks) {
    onBytes?.(chunk.length)
    yield chunk
  }
}
