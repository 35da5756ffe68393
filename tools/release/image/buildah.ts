import path from 'node:path'
import { DistributionFault } from '../../../src/distribution/fault.ts'
import { argumentsOf, baseName, secondsOf, type ImageBuild } from './builder.ts'
import { filesOfLayer } from '../image-files.ts'
import { openImage } from '../image.ts'
import type { TarInput } from '../../../src/distribution/tar/write.ts'
import { runs, runStep, type Step } from './run.ts'
import { warmCache } from './npm-cache.ts'
import { writeImage } from './write-image.ts'

/** Returns true if this machine can build with buildah. */
export const hasBuildah = (): Promise<boolean> => runs('buildah', '--version')

/** Builds docker/Dockerfile without a daemon and, where the machine can cut it, without a network. Gives the folder of an OCI layout. */
export async function buildWithBuildah(build: ImageBuild): Promise<string> {
  const { work, base, created, onStep } = build
  const storage = ['--root', path.join(work, 'storage'), '--runroot', path.join(work, 'run'), '--storage-driver', 'vfs']
  const buildah = (title: string, ...args: string[]): Promise<string> => runStep({ title, command: ['buildah', ...storage, ...args] })
  const seconds = String(secondsOf(created))

  onStep('image: the base, from Debian packages and npm')
  const container = (await buildah('the base', 'from', 'scratch')).trim()
  for (const layer of ['debian', 'node']) await buildah('the base', 'add', '--quiet', container, path.join(base, `${layer}.tar`), '/')
  await buildah('the base', 'config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', '--cmd', 'node', container)
  await buildah('the base', 'commit', '--quiet', '--rm', '--timestamp', seconds, container, baseName)

  const cache = (await runStep({ title: 'the cache of npm', command: ['npm', 'config', 'get', 'cache'] })).trim()
  const command = ['buildah', ...storage, ...budArguments(build, { seconds, cache })] as const
  await budOffline(build, { command, cache })

  onStep('image: reading what was built')
  const layout = path.join(work, 'built')
  await buildah('reading the image', 'push', '--quiet', '--format', 'oci', 'gatehouse', `oci:${layout}:image`)
  const members = await lastLayer(layout)
  return writeImage(build, () => members)
}

/** Returns the files that the Dockerfile adds to its base, in the order of a folder's members. */
async function lastLayer(layout: string): Promise<readonly TarInput[]> {
  const image = await openImage(layout)
  const members: TarInput[] = []
  for (const layer of image.platforms[0]?.layers.slice(-1) ?? []) {
    for await (const { path: name, type, mode, size, target, read } of filesOfLayer(layer, image.blobs)) {
      if (type === 'other') throw new DistributionFault('build_failed', `the image has /${name}, which is no file, folder or link`)
      const bytes = type === 'file' ? await read() : Buffer.alloc(0)
      members.push({ path: name, type, mode, target, size, content: () => [bytes] })
    }
  }
  await image.close()
  return members.toSorted((one, other) => comparePaths(one.path.split('/'), other.path.split('/')))
}

/** A folder before its contents, names by their characters. */
function comparePaths(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((part, index) => part !== other[index])
  if (at === -1) return one.length - other.length
  return other[at] !== undefined && (one[at] ?? '') < other[at] ? -1 : 1
}

function budArguments(build: ImageBuild, { seconds, cache }: { seconds: string; cache: string }): readonly string[] {
  const values = { ...argumentsOf(build), npm_config_offline: 'true' }
  const given = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
  const options = ['--quiet', '--isolation', 'chroot', '--pull-never', '--layers=false', '--format', 'oci', '--timestamp', seconds]
  const mounts = ['--volume', `${cache}:/var/cache/npm`, '--volume', `${path.join(build.base, 'npm')}:/usr/local/lib/node_modules/npm:ro`]
  return ['bud', ...options, ...mounts, ...given, '--file', path.join(build.root, 'docker/Dockerfile'), '--tag', 'gatehouse', build.root]
}

/** Fetches packages only when npm's cache lacks some, and never in the build itself. */
async function budOffline(build: ImageBuild, { command, cache }: { command: Step['command']; cache: string }): Promise<void> {
  const cut = await runs('unshare', '--net', 'true')
  build.onStep(`image: building docker/Dockerfile ${cut ? 'without a network' : 'with npm offline (this machine cannot cut the network)'}`)
  const step: Step = { title: 'building the image', command: cut ? ['unshare', '--net', ...command] : command }
  try {
    await runStep(step)
  } catch (error) {
    if (!(error instanceof DistributionFault) || !error.message.includes('ENOTCACHED')) throw error
    build.onStep('image: fetching the packages that npm has not cached')
    await warmCache(build, cache)
    await runStep(step)
  }
}
