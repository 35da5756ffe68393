import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Chart, Lock } from '../../src/release/record.ts'
import { DistributionFault } from '../../src/distribution/fault.ts'
import { makeBase, openBase, type BasePackage, type Variant } from './image/base.ts'
import { buildWithBuildah } from './image/buildah.ts'
import { buildWithNode } from './image/node-builder.ts'
import { assemble, type Builder } from './assemble.ts'
import { checkVersion, openImage } from './image.ts'
import { demandNightly, parseNightly } from '../../src/distribution/release/nightly.ts'
import { readRevision, revisionNamed, type Revision } from './revision.ts'

export interface ReleaseBuild {
  /** The checkout. */
  readonly root: string
  /** The folder to make. */
  readonly output: string
  readonly version: string
  /** The day of the release, ISO 8601. */
  readonly date: string
  /** Returns the sources for the lock; throws when they must not be released. */
  readonly sources: () => Promise<Pick<Lock, 'migrations' | 'record'>>
  /** The layout or archive of an image that was built elsewhere; null: build one. */
  readonly image: string | null
  readonly builder: 'buildah' | 'node'
  readonly variant: Variant
  /** The folder that docker/base.sh made; null: make one. */
  readonly base: string | null
  /** The list of Debian packages; null: that of the checkout. */
  readonly packages: string | null
  /** True if uncommitted changes may be built; the release is then marked. */
  readonly allowDirty: boolean
  /** The commit of the sources as the image states it; null: read from the checkout. */
  readonly revision: string | null
  /** The file with the record of a nightly run of this commit; null: the release holds none. */
  readonly nightly: string | null
  /** The chart that deploys it. */
  readonly chart: Chart
  /** Called with the title of each step. */
  readonly onStep: (text: string) => void
}

/** A release on disk. */
export interface BuiltRelease {
  readonly folder: string
  readonly builder: Builder
  readonly lock: Lock
}

/** Makes the folder of a release: image and chart as one OCI layout, chart archive, SBOMs, provenance, lock, list of files. */
export async function buildRelease(build: ReleaseBuild): Promise<BuiltRelease> {
  const folder = path.resolve(build.output)
  await refuseTaken(folder)
  const work = `${folder}.work-${process.pid}`
  const staged = path.join(work, 'release')
  const revision = build.revision === null ? await readRevision(build.root, build) : revisionNamed(build.revision)
  if (build.nightly !== null) demandNightly(parseNightly(await readFile(build.nightly, 'utf8'), build.nightly), cleanCommit(revision))
  await mkdir(staged, { recursive: true })
  try {
    const { builder, place, packages } = await obtainImage(build, { work, revision: revision.label })
    const image = await openImage(place)
    try {
      checkVersion(image, build.version)
      const lock = await assemble(staged, { ...build, image, builder, packages, created: createdAt(build), revision })
      await refuseTaken(folder)
      // Takes the place of an empty folder only.
      await rename(staged, folder)
      return { folder, builder, lock }
    } finally {
      await image.close()
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** A release is built in a new or an empty folder. */
async function refuseTaken(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => null)
  if (found === null) return
  if (!found.isDirectory()) throw new DistributionFault('file_exists', `${folder} is no folder: a release is built into a new one`)
  if ((await readdir(folder)).length > 0)
    throw new DistributionFault('version_exists', `${folder} is not empty: a release is built into a new folder`)
}

interface BuildInputs {
  readonly builder: Builder
  readonly place: string
  /** The Debian packages of the image, as far as we know. */
  readonly packages: readonly BasePackage[]
}

async function obtainImage(build: ReleaseBuild, { work, revision }: { work: string; revision: string }): Promise<BuildInputs> {
  if (build.image !== null) return { builder: 'given', place: build.image, packages: [] }
  const { root, version: release, builder, variant, onStep } = build
  const options = { root, variant, lock: build.packages }
  const folder = build.base ?? path.join(work, 'base')
  if (build.base === null) {
    onStep('base: Debian packages and npm packages')
    await makeBase(folder, options)
  }
  const { packages, postgres } = await openBase(folder, options)
  const input = { root, work, base: folder, release, created: createdAt(build), revision, postgres, onStep }
  return { builder, packages, place: await (builder === 'buildah' ? buildWithBuildah : buildWithNode)(input) }
}

const cleanCommit = ({ commit, dirty }: Revision): string | null => (dirty ? null : commit)

const createdAt = ({ date }: ReleaseBuild) => `${date}T00:00:00Z`
