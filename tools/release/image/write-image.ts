import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { fingerprint, readFileChunks, type Chunks } from '../../../src/distribution/bytes.ts'
import { mediaTypes } from '../../../src/distribution/oci/documents.ts'
import { createLayout } from '../../../src/distribution/oci/layout.ts'
import { writeTar, type TarInput } from '../../../src/distribution/tar/write.ts'
import { argumentsOf, secondsOf, type ImageBuild } from './builder.ts'
import { settingsOfDockerfile } from './dockerfile.ts'

/**
 * Writes the image: the two layers of the base, one of the program, and the configuration of docker/Dockerfile. All builders end here, so that the
 * same files have the same digest, independent of the builder. Returns the folder of an OCI layout.
 */
export async function writeImage(build: ImageBuild, members: () => AsyncIterable<TarInput> | Iterable<TarInput>): Promise<string> {
  const { root, work, base, created } = build
  build.onStep('image: writing the layers')
  const folder = path.join(work, 'image')
  const layout = await createLayout(folder)
  const archives = ['debian', 'node'].map((name) => () => readFileChunks(path.join(base, `${name}.tar`)))
  const contents: readonly (() => Chunks)[] = [...archives, () => writeTar(members(), secondsOf(created))]
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
