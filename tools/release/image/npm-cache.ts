import path from 'node:path'
import type { ImageBuild } from './builder.ts'
import { runStep } from './run.ts'

/** Fetches into npm's cache the packages that the two installs of the Dockerfile need. */
export async function warmCache({ root, work }: Pick<ImageBuild, 'root' | 'work'>, cache: string): Promise<void> {
  for (const tools of [[], ['esbuild']]) {
    const folder = path.join(work, `fetched-${tools.length}`)
    await runStep({ title: 'fetching packages', command: ['node', path.join(root, 'docker/manifest.mjs'), folder, ...tools] })
    await runStep({
      title: 'fetching packages',
      command: ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--cache', cache],
      cwd: folder,
    })
  }
}
