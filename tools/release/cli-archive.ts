import path from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Chunks } from '../../src/distribution/bytes.ts'
import { DistributionFault } from '../../src/distribution/fault.ts'
import type { Blobs } from '../../src/distribution/oci/artifacts.ts'
import { filesOfLayer } from './image-files.ts'
import { writeTar, type TarInput } from '../../src/distribution/tar/write.ts'
import type { PlatformImage } from './image.ts'
import { cliLauncher, imageProgram } from '../../src/distribution/release/names.ts'

/** The folder that only the server needs. */
const leftOut = 'app/postgres'

/** Written for every Node that is in use, so that an old one prints a clear message and not a syntax error of the program. */
const launcher = `#!/usr/bin/env node
var major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  console.error('error: Gatehouse needs Node 24 or newer, and this is Node ' + process.versions.node)
  process.exit(78)
}
import('./${path.posix.relative('app', imageProgram)}')
`

/**
 * The program of an image as an archive that any machine with Node can run: it verifies and loads a bundle before there is an image. Ends with
 * DistributionFault if the image has no program where images have it.
 */
export function cliArchive({ layers }: PlatformImage, blobs: Blobs, { version, seconds }: { version: string; seconds: number }): Chunks {
  async function* members(): AsyncGenerator<TarInput> {
    const start = Buffer.from(launcher)
    yield { path: `gatehouse-${version}/${cliLauncher}`, type: 'file', mode: 0o755, size: start.length, content: () => [start] }
    let hasProgram = false
    for (const layer of layers) {
      for await (const { path: file, type, mode, size, target, read } of filesOfLayer(layer, blobs)) {
        if (!file.startsWith('app/') || file === leftOut || type === 'other') continue
        const bytes = type === 'file' ? await read() : Buffer.alloc(0)
        hasProgram ||= file === imageProgram
        yield { path: file.replace(/^app/, `gatehouse-${version}`), type, mode, size, target, content: () => [bytes] }
      }
    }
    if (!hasProgram) throw new DistributionFault('file_missing', `the image has no ${imageProgram}, which is its command line`)
  }
  // The reader of the archive gets a fault: `pipe` would report it only to the process.
  return pipeline(Readable.from(writeTar(members(), seconds), { objectMode: false }), createGzip(), () => {})
}
