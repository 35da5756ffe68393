import { readdir, readlink, stat } from 'node:fs/promises'
import path from 'node:path'
import { readFileChunks } from '../../../src/distribution/bytes.ts'
import type { TarInput } from '../../../src/distribution/tar/write.ts'
import { argumentsOf, type ImageBuild } from './builder.ts'
import { runStep } from './run.ts'
import { writeImage } from './write-image.ts'

/** Builds the image with Node and npm alone. Gives the folder of an OCI layout. */
export async function buildWithNode(build: ImageBuild): Promise<string> {
  const { root, work, base, onStep } = build
  const [app, stage] = [path.join(work, 'app'), path.join(work, 'stage')]
  const script = (name: string) => path.join(root, 'docker', name)
  onStep('image: installing the packages and bundling')
  await runStep({ title: 'the packages', command: ['node', script('manifest.mjs'), app] })
  const install = ['npm', 'ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'] as const
  await runStep({ title: 'the packages', command: install, cwd: app })
  await runStep({ title: 'bundling', command: ['node', script('bundle.mjs'), root, path.join(app, 'program')] })
  onStep('image: building the console')
  await runStep({ title: 'the console', command: ['node', path.join(root, 'console/build.mjs')] })
  const lay = ['node', script('stage.mjs'), app, stage, path.join(base, 'passwd')] as const
  await runStep({ title: 'laying out the files', command: lay, variables: argumentsOf(build) })
  return writeImage(build, () => filesOf(stage, ''))
}

/** The members of a folder, sorted, so that the archive does not depend on the disk. */
async function* filesOf(folder: string, under: string): AsyncGenerator<TarInput> {
  const entries = await readdir(path.join(folder, under), { withFileTypes: true })
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const inner = under === '' ? entry.name : `${under}/${entry.name}`
    const file = path.join(folder, inner)
    if (entry.isSymbolicLink()) {
      yield { path: inner, type: 'link', mode: 0o777, target: await readlink(file) }
      continue
    }
    const { mode, size } = await stat(file)
    const common = { path: inner, mode: mode & 0o7777 }
    if (!entry.isDirectory()) yield { ...common, type: 'file', size, content: () => readFileChunks(file) }
    else {
      yield { ...common, type: 'folder' }
      yield* filesOf(folder, inner)
    }
  }
}
