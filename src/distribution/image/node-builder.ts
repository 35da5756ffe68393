import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { readFileChunks, type Chunks, fingerprint } from '../bytes.ts'
import { mediaTypes } from '../oci/documents.ts'
import { createLayout } from '../oci/layout.ts'
import { writeTar, type TarInput } from '../tar/write.ts'
import { argumentsOf, secondsOf, type ImageBuild } from './builder.ts'
import { settingsOfDockerfile } from './dockerfile.ts'
import { runStep } from './run.ts'

/** Builds the same image with Node and npm alone, where there is no buildah. Gives the folder of an OCI layout. */
export async function buildWithNode(build: ImageBuild): Promise<string> {
  const { root, work, base, created, onStep } = build
  const [app, stage] = [path.join(work, 'app'), path.join(work, 'stage')]
  const script = (name: string) => path.join(root, 'docker', name)
  onStep('image: installing the packages and compiling')
  await runStep({ title: 'the packages', command: ['node', script('manifest.mjs'), app] })
  const install = ['npm', 'ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'] as const
  await runStep({ title: 'the packages', command: install, cwd: app })
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  const compile = ['node', compiler, '-p', path.join(root, 'tsconfig.build.json'), '--outDir', path.join(app, 'dist')] as const
  await runStep({ title: 'compiling', command: compile, cwd: root })
  await runStep({ title: 'laying out the files', command: ['node', script('stage.mjs'), app, stage, path.join(base, 'passwd')] })

  onStep('image: writing the layers')
  const folder = path.join(work, 'image')
  const layout = await createLayout(folder)
  const seconds = secondsOf(created)
  const archives = ['debian', 'node'].map((name) => () => readFileChunks(path.join(base, `${name}.tar`)))
  const contents: readonly (() => Chunks)[] = [...archives, () => writeTar(filesOf(stage, ''), seconds)]
  const layers = []
  const diffIds = []
  for (const content of contents) {
    diffIds.push(`sha256:${(await fingerprint(content())).sha256}`)
    layers.push(await layout.add(mediaTypes.layer, Readable.from(content(), { objectMode: false }).pipe(createGzip({ level: 6 }))))
  }
  const settings = settingsOfDockerfile(await readFile(path.join(root, 'docker/Dockerfile'), 'utf8'), argumentsOf(build))
  const config = await layout.addJson(mediaTypes.config, {
    created,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { ...settings, Env: ['PATH=/usr/local/bin:/usr/bin:/bin', ...settings.Env] },
    rootfs: { type: 'layers', diff_ids: diffIds },
    history: contents.map(() => ({ created, created_by: 'gatehouse release build' })),
  })
  const manifest = await layout.addJson(mediaTypes.manifest, { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers })
  await layout.finish([{ reference: 'gatehouse:image', descriptor: manifest }])
  return folder
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
