import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Build } from '../rehearse/build.ts'
import { unpack } from './container.ts'

const execute = promisify(execFile)

/** Makes a build whose program is an image: its command line runs a container, so that rehearsals for processes are rehearsals for containers. */
export async function containerBuild(layout: string, { release, work }: { release: string; work: string }): Promise<Build> {
  const image = await unpack(layout, work)
  const folder = path.join(work, 'build')
  await mkdir(path.join(folder, 'src/cli'), { recursive: true })
  await symlink(path.join(image, 'rootfs/app/migrations'), path.join(folder, 'migrations'))
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  const { stdout: runtime } = await execute('sh', ['-c', 'command -v runc'])
  const program = [
    `process.env['GATEHOUSE_IMAGE'] = ${JSON.stringify(image)}`,
    `process.env['GATEHOUSE_RUNTIME'] = ${JSON.stringify(runtime.trim())}`,
    `await import(${JSON.stringify(path.join(import.meta.dirname, 'as-container.ts'))})`,
  ]
  await writeFile(path.join(folder, 'src/cli/gatehouse.ts'), program.join('\n'))
  return { folder, release, remove: () => remove(work) }
}

/** A container outlives the one who watches it, when that is killed. */
async function remove(work: string): Promise<void> {
  const state = path.join(work, 'runtime')
  for (const id of await readdir(state).catch(() => [])) await execute('runc', ['--root', state, 'delete', '--force', id]).catch(() => {})
  await rm(work, { recursive: true, force: true })
}
