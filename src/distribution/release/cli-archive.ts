import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Chunks } from '../bytes.ts'
import type { Blobs } from '../oci/artifacts.ts'
import { filesOfLayer } from '../oci/image-files.ts'
import { writeTar, type TarInput } from '../tar/write.ts'
import type { PlatformImage } from './image.ts'

/** The folder that only the server needs. */
const leftOut = 'app/postgres'

/** The program of an image as an archive that any machine with Node can run: it verifies and loads a bundle before there is an image. */
export function cliArchive({ layers }: PlatformImage, blobs: Blobs, { version, seconds }: { version: string; seconds: number }): Chunks {
  async function* members(): AsyncGenerator<TarInput> {
    for (const layer of layers) {
      for await (const { path, type, mode, size, target, read } of filesOfLayer(layer, blobs)) {
        if (!path.startsWith('app/') || path === leftOut || type === 'other') continue
        const bytes = type === 'file' ? await read() : Buffer.alloc(0)
        yield { path: path.replace(/^app/, `gatehouse-${version}`), type, mode, size, target, content: () => [bytes] }
      }
    }
  }
  return Readable.from(writeTar(members(), seconds), { objectMode: false }).pipe(createGzip())
}
