import path from 'node:path'
import { DistributionFault } from '../fault.ts'
import { argumentsOf, baseName, secondsOf, type ImageBuild } from './builder.ts'
import { runs, runStep, type Step } from './run.ts'
import { warmCache } from './npm-cache.ts'

/** Whether this machine can build with buildah. */
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

  onStep('image: writing the layout')
  const layout = path.join(work, 'image')
  await buildah('writing the image', 'push', '--quiet', '--format', 'oci', 'gatehouse', `oci:${layout}:image`)
  return layout
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
