import { stat } from 'node:fs/promises'
import { openArchive } from '../../src/distribution/bundle/archive.ts'
import { DistributionFault } from '../../src/distribution/fault.ts'
import { readDocument, type Blobs } from '../../src/distribution/oci/artifacts.ts'
import { ImageConfig, Index, isIndex, Manifest, parseDocument, type Descriptor } from '../../src/distribution/oci/documents.ts'
import { folderBlobs, readIndex } from '../../src/distribution/oci/layout.ts'

/** The image of one platform. */
export interface PlatformImage {
  /** `linux-amd64` */
  readonly platform: string
  readonly manifest: Descriptor
  readonly config: ImageConfig
  readonly layers: readonly Descriptor[]
}

/** An image that was built here or elsewhere, before it is part of a release. */
export interface SourceImage {
  readonly descriptor: Descriptor
  readonly platforms: readonly PlatformImage[]
  /** All that it consists of. */
  readonly descriptors: readonly Descriptor[]
  readonly blobs: Blobs
  close(): Promise<void>
}

/** Opens the one image of a layout: a folder, or an archive such as `docker buildx build --output type=oci` writes. Throws DistributionFault. */
export async function openImage(place: string): Promise<SourceImage> {
  const { index, blobs, close } = await openLayout(place)
  const [listed, ...others] = parseDocument(Index, index ?? '', `${place}: index.json`).manifests
  if (listed === undefined || others.length > 0)
    throw new DistributionFault('manifest_malformed', `${place} must hold one image, and lists ${others.length + 1}`)
  // The name in the layout is not part of the image.
  const { annotations: _, ...descriptor } = listed
  const children = isIndex(descriptor) ? parseDocument(Index, await readDocument(descriptor, blobs), 'the image').manifests : [descriptor]
  const platforms = await Promise.all(children.filter(isRunnable).map((manifest) => readPlatform(manifest, blobs)))
  const inner = await Promise.all(children.map((manifest) => partsOf(manifest, blobs)))
  const descriptors = [...new Map([descriptor, ...children, ...inner.flat()].map((entry) => [entry.digest, entry])).values()]
  return { descriptor, platforms, descriptors, blobs, close }
}

async function openLayout(place: string) {
  const status = await stat(place).catch(() => null)
  if (status === null) throw new DistributionFault('file_missing', `there is no ${place}`)
  if (status.isDirectory()) return { index: await readIndex(place), blobs: folderBlobs(place), close: () => Promise.resolve() }
  const archive = await openArchive(place)
  return { index: await archive.text('index.json'), blobs: archive.blobs, close: archive.close }
}

/** Builders also list attestations of an image; such an entry has no platform to run on. */
const isRunnable = ({ platform }: Descriptor) => platform?.os !== 'unknown'

const readManifest = async (descriptor: Descriptor, blobs: Blobs) =>
  parseDocument(Manifest, await readDocument(descriptor, blobs), `the manifest ${descriptor.digest}`)

async function partsOf(descriptor: Descriptor, blobs: Blobs): Promise<readonly Descriptor[]> {
  const { config, layers } = await readManifest(descriptor, blobs)
  return [config, ...layers]
}

async function readPlatform(manifest: Descriptor, blobs: Blobs): Promise<PlatformImage> {
  const { config: descriptor, layers } = await readManifest(manifest, blobs)
  const config = parseDocument(ImageConfig, await readDocument(descriptor, blobs), 'the configuration of the image')
  return { platform: `${config.os}-${config.architecture}`, manifest, config, layers }
}

/** The label that names the release of an image. Throws DistributionFault `version_differs`. */
export function checkVersion({ platforms }: SourceImage, version: string): void {
  for (const { platform, config } of platforms) {
    const label = config.config.Labels?.['org.opencontainers.image.version']
    if (label !== version)
      throw new DistributionFault('version_differs', `the image for ${platform} says that it is ${label ?? 'no release'}, not ${version}`)
  }
}
