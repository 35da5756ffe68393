import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Lock } from '../../release/record.ts'
import { DistributionFault } from '../fault.ts'
import { buildWithBuildah, hasBuildah } from '../image/buildah.ts'
import { buildWithNode } from '../image/node-builder.ts'
import { runStep } from '../image/run.ts'
import { assemble, type Builder } from './assemble.ts'
import { checkVersion, openImage } from './image.ts'

export interface ReleaseBuild {
  /** The checkout. */
  readonly root: string
  /** The folder to make. */
  readonly output: string
  readonly version: string
  /** The day of the release, ISO 8601. */
  readonly date: string
  /** What the lock says of the sources; throws when they must not be released. */
  readonly sources: () => Promise<Pick<Lock, 'migrations' | 'record'>>
  /** The layout or archive of an image that was built elsewhere; null: build one. */
  readonly image: string | null
  /** Null: buildah where there is one. */
  readonly builder: 'buildah' | 'node' | null
  /** The folder that docker/base.sh made; null: make one. */
  readonly base: string | null
  /** The version that the chart must have. */
  readonly chart: string
  /** Told of each step. */
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
  await mkdir(staged, { recursive: true })
  try {
    const { builder, place } = await obtainImage(build, work)
    const image = await openImage(place)
    try {
      checkVersion(image, build.version)
      const lock = await assemble(staged, { ...build, image, builder, created: createdAt(build), revision: await revisionOf(build.root) })
      await refuseTaken(folder)
      // Takes the place of an empty folder, and of nothing else.
      await rename(staged, folder)
      return { folder, builder, lock }
    } finally {
      await image.close()
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** A release is built where there is nothing, or an empty folder. */
async function refuseTaken(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => null)
  if (found === null) return
  if (!found.isDirectory()) throw new DistributionFault('file_exists', `${folder} is no folder: a release is built into a new one`)
  if ((await readdir(folder)).length > 0)
    throw new DistributionFault('version_exists', `${folder} is not empty: a release is built into a new folder`)
}

async function obtainImage(build: ReleaseBuild, work: string): Promise<{ builder: Builder; place: string }> {
  if (build.image !== null) return { builder: 'given', place: build.image }
  const { root, version: release, onStep } = build
  const builder = build.builder ?? ((await hasBuildah()) ? 'buildah' : 'node')
  const base = build.base ?? path.join(work, 'base')
  if (build.base === null) {
    onStep('base: Debian packages and npm packages')
    await runStep({ title: 'the base', command: ['sh', path.join(root, 'docker/base.sh'), base] })
  }
  for (const name of ['debian.tar', 'node.tar', 'passwd'])
    if (!existsSync(path.join(base, name)))
      throw new DistributionFault('file_missing', `there is no ${path.join(base, name)}: name the folder that docker/base.sh made`)
  const input = { root, work, base, release, created: createdAt(build), revision: await revisionOf(root), onStep }
  return { builder, place: await (builder === 'buildah' ? buildWithBuildah : buildWithNode)(input) }
}

const createdAt = ({ date }: ReleaseBuild) => `${date}T00:00:00Z`

/** The commit of a checkout without changes. */
async function revisionOf(root: string): Promise<string> {
  const git = (...args: string[]) => runStep({ title: 'the revision', command: ['git', '-C', root, ...args] }).catch(() => null)
  const [commit, changes] = await Promise.all([git('rev-parse', 'HEAD'), git('status', '--porcelain')])
  return commit === null || changes !== '' ? 'unknown' : commit.trim()
}
