import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { fileOf, writeTar } from '../../distribution/tar/write.ts'
import type { BundleFile } from './bundle.ts'

/** Writes the files as one .tar.gz that only its owner may read, below a folder of its name. Refuses to write over a file. */
export async function writeArchive(file: string, files: readonly BundleFile[]): Promise<void> {
  const folder = path.basename(file).replace(/\.(?:tar\.gz|tgz)$/, '')
  const members = files.map(({ path: name, bytes }) => fileOf(`${folder}/${name}`, bytes))
  const archive = Readable.from(writeTar(members, Math.trunc(Date.now() / 1000)))
  await pipeline(archive, createGzip(), createWriteStream(file, { flags: 'wx', mode: 0o600 }))
}
