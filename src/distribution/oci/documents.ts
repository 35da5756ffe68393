import { jsonOrUndefined } from '../../lib/json/json.ts'
import { z } from 'zod'
import { DistributionFault } from '../fault.ts'

/** The types of content that an image and a chart are made of. */
export const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  chartConfig: 'application/vnd.cncf.helm.config.v1+json',
  chart: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
  /** Docker's forms of the same documents. */
  dockerIndex: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
} as const

/** The annotation by which an index names its entries: `<repository>:<tag>`. */
export const refName = 'org.opencontainers.image.ref.name'

/** The only text that a file `oci-layout` may hold. */
export const layoutMarker = '{"imageLayoutVersion":"1.0.0"}'

const Annotations = z.record(z.string(), z.string())

/** A pointer to a blob. Unknown fields are kept, because they are part of the digest. */
export const Descriptor = z.looseObject({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.int().nonnegative(),
  annotations: Annotations.optional(),
  platform: z.looseObject({ architecture: z.string(), os: z.string() }).optional(),
})
export type Descriptor = z.output<typeof Descriptor>

/** An image or a chart of one platform. */
export const Manifest = z.looseObject({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  config: Descriptor,
  layers: z.array(Descriptor),
  annotations: Annotations.optional(),
})
export type Manifest = z.output<typeof Manifest>

/** A list of manifests: of the platforms of one image, or of all that a layout holds. */
export const Index = z.looseObject({ schemaVersion: z.literal(2), mediaType: z.string().optional(), manifests: z.array(Descriptor) })
export type Index = z.output<typeof Index>

/** The configuration of an image, as far as we read it. */
export const ImageConfig = z.looseObject({
  architecture: z.string(),
  os: z.string(),
  config: z.looseObject({ Env: z.array(z.string()).default([]), Labels: Annotations.nullish() }).prefault({}),
})
export type ImageConfig = z.output<typeof ImageConfig>

/** Parses a document that came from outside. Throws DistributionFault `manifest_malformed`. */
export function parseDocument<T extends z.ZodType>(schema: T, text: string, what: string): z.output<T> {
  const parsed = schema.safeParse(jsonOrUndefined(text))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new DistributionFault('manifest_malformed', `${what} is malformed: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
}

/** Returns true if a descriptor leads to further manifests. */
export const isIndex = ({ mediaType }: Descriptor): boolean => mediaType === mediaTypes.index || mediaType === mediaTypes.dockerIndex

const repositoryPart = String.raw`[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`
const repository = new RegExp(`^${repositoryPart}(?:/${repositoryPart})*$`)

/** Returns true if a text can name a repository: `gatehouse`, `mirror/charts/app`. */
export const isRepository = (text: string): boolean => text.length <= 255 && repository.test(text)

/** The path of a blob in a layout. */
export const blobPath = (digest: string): string => `blobs/${digest.replace(':', '/')}`
