import { createHash } from 'node:crypto'
import { copyFile, cp, mkdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Chart, Lock } from '../../src/release/record.ts'
import { readFileChunks, writeFileChunks, type Chunks } from '../../src/distribution/bytes.ts'
import { DistributionFault } from '../../src/distribution/fault.ts'
import { debianUrl, imageTag, type BasePackage, type Variant } from './image/base.ts'
import { secondsOf } from './image/builder.ts'
import { createLayout, type LayoutWriter } from '../../src/distribution/oci/layout.ts'
import { endedBy } from './sbom/end-of-life.ts'
import { createSbom } from './sbom/sbom.ts'
import { addChart, packageChart, readChart } from './chart.ts'
import { cliArchive } from './cli-archive.ts'
import { writeSums } from '../../src/distribution/release/folder.ts'
import type { SourceImage } from './image.ts'
import { releaseFiles, repositories } from '../../src/distribution/release/names.ts'
import { provenanceOf, type DigestedThing } from './provenance.ts'
import type { Revision } from './revision.ts'

/** How the image was built; `given`: elsewhere. */
export type Builder = 'buildah' | 'given' | 'node'

/** The parts of a release. */
export interface Parts {
  /** The checkout. */
  readonly root: string
  readonly version: string
  /** ISO 8601. */
  readonly created: string
  readonly revision: Revision
  readonly variant: Variant
  /** The Debian packages that went into the image, as far as we know. */
  readonly packages: readonly BasePackage[]
  readonly image: SourceImage
  readonly builder: Builder
  /** The file with the record of a nightly run; null: the release holds none. */
  readonly nightly: string | null
  /** The chart that deploys it: the same with each release that it deploys, to the last byte. */
  readonly chart: Chart
  /** Returns the sources for the lock; throws when they must not be released. */
  readonly sources: () => Promise<Pick<Lock, 'migrations' | 'record'>>
  readonly onStep: (text: string) => void
}

/** Writes into a folder, and remembers the digest of each thing by its name. */
interface Draft {
  readonly digests: Map<string, string>
  write(file: string, chunks: Chunks): Promise<void>
}

/** Fills the folder of a release from an image that was built. Gives its lock. */
export async function assemble(folder: string, parts: Parts): Promise<Lock> {
  const { version, variant, image, builder, revision, onStep } = parts
  const sources = await parts.sources()
  const draft = createDraft(folder)
  const layout = await createLayout(path.join(folder, releaseFiles.layout))
  await layout.copy(image.descriptors, image.blobs)
  const name = `${repositories.image}:${imageTag(version, variant)}`
  draft.digests.set(name, image.descriptor.digest)

  onStep('chart: packaging')
  const chart = await storeChart(parts, { folder, draft, layout })
  await layout.finish([{ reference: name, descriptor: image.descriptor }, chart])

  onStep('documents, software bill of materials, command line, provenance')
  await copyDocuments(parts.root, path.join(folder, releaseFiles.documents))
  await describeImage(parts, draft)
  const subjects = [...draft.digests].map(([subject, digest]) => ({ name: subject, digest: { sha256: digest.slice('sha256:'.length) } }))
  const provenance = provenanceOf({ version, builder, variant, dirty: revision.dirty, subjects, materials: await materialsOf(parts) })
  await draft.write(releaseFiles.provenance, jsonOf(provenance))
  const lock = { version, ...sources, images: [name], digests: Object.fromEntries(draft.digests) }
  await draft.write(releaseFiles.lock(version), jsonOf(lock))
  if (parts.nightly !== null) await copyFile(parts.nightly, path.join(folder, releaseFiles.nightly))
  await writeSums(folder)
  return lock
}

function createDraft(folder: string): Draft {
  const digests = new Map<string, string>()
  return {
    digests,
    async write(file, chunks) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
      const { sha256 } = await writeFileChunks(path.join(folder, file), chunks)
      digests.set(file, `sha256:${sha256}`)
    },
  }
}

const jsonOf = (value: unknown) => [Buffer.from(`${JSON.stringify(value, null, 2)}\n`)]

/** Packages the chart, as a file and as a part of the layout. */
async function storeChart(parts: Parts, { folder, draft, layout }: { folder: string; draft: Draft; layout: LayoutWriter }) {
  const source = path.join(parts.root, 'charts', 'app')
  const chart = await readChart(source)
  const { version, appVersion, date } = parts.chart
  if (chart.version !== version || chart.appVersion !== appVersion)
    throw new DistributionFault(
      'version_differs',
      `charts/app is ${chart.version} for ${chart.appVersion}, and ${parts.version} ships with ${version} for ${appVersion}`,
    )
  const file = releaseFiles.chart(chart.name, chart.version)
  await draft.write(file, await packageChart(source, { name: chart.name, seconds: secondsOf(`${date}T00:00:00Z`) }))
  const descriptor = await addChart(layout, chart, readFileChunks(path.join(folder, file)))
  const reference = `${repositories.charts}/${chart.name}:${chart.version}`
  draft.digests.set(reference, descriptor.digest)
  return { reference, descriptor }
}

/** Copies the documents of this release, with docs/README.md as the way in. */
async function copyDocuments(root: string, folder: string): Promise<void> {
  await cp(path.join(root, 'docs'), folder, {
    recursive: true,
    filter: async (file) => file.endsWith('.md') || (await stat(file)).isDirectory(),
  })
  await cp(path.join(root, 'CHANGELOG.md'), path.join(folder, 'CHANGELOG.md'))
}

/** Writes the bills of materials of the image for each platform, and its program for machines without containers. */
async function describeImage({ version, created, image, onStep }: Parts, draft: Draft): Promise<void> {
  for (const { platform, manifest, layers } of image.platforms) {
    const sbom = await createSbom({ version, created, manifest, layers }, image.blobs)
    // Reported and not refused: an old release must be rebuilt to the same bytes at any time.
    for (const { name, version: found, until } of endedBy(new Date().toISOString().slice(0, 10), sbom.components))
      onStep(
        `warning: ${name} ${found} in the image for ${platform} is ${until === null ? 'of no line that is known here' : `mended no more since ${until}`}`,
      )
    await draft.write(`${releaseFiles.sboms}/gatehouse-${version}-${platform}.cdx.json`, jsonOf(sbom))
  }
  const [first] = image.platforms
  if (first === undefined) return
  await draft.write(releaseFiles.cli(version), cliArchive(first, image.blobs, { version, seconds: secondsOf(created) }))
}

async function materialsOf({ root, revision, packages }: Parts): Promise<readonly DigestedThing[]> {
  const lock = await readFile(path.join(root, 'package-lock.json'))
  return [
    ...(revision.commit === null ? [] : [{ name: 'source', digest: { gitCommit: revision.commit } }]),
    { name: 'package-lock.json', digest: { sha256: createHash('sha256').update(lock).digest('hex') } },
    ...packages.map((entry) => ({ name: entry.file, uri: debianUrl(entry), digest: { sha256: entry.sha256 } })),
  ]
}
