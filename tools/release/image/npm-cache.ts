import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { ImageBuild } from './builder.ts'
import { runStep } from './run.ts'

/** Fetches into npm's cache the packages that the installs of the Dockerfile need. */
export async function warmCache({ root, work }: Pick<ImageBuild, 'root' | 'work'>, cache: string): Promise<void> {
  for (const tools of [[], ['esbuild']]) {
    const folder = path.join(work, `fetched-${tools.length}`)
    await runStep({ title: 'fetching packages', command: ['node', path.join(root, 'docker/manifest.mjs'), folder, ...tools] })
    await fetchPackages(folder, cache)
  }
  const folder = path.join(work, 'fetched-console')
  await mkdir(folder)
  for (const file of ['package.json', 'package-lock.json']) await copyFile(path.join(root, 'console', file), path.join(folder, file))
  await fetchPackages(folder, cache)
}

const fetchPackages = (folder: string, cache: string): Promise<string> =>
  runStep({
    title: 'fetching packages',
    command: ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--cache', cache],
    cwd: folder,
  })
