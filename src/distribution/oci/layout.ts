import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readFileChunks, writeFileChunks, type Chunks } from '../bytes.ts'
import { DistributionFault } from '../fault.ts'
import type { Blobs } from './artifacts.ts'
import { blobPath, layoutMarker, mediaTypes, refName, type Descriptor } from './documents.ts'

/** The blobs of a layout in a folder. */
export const folderBlobs = (folder: string): Blobs => ({
  async size(digest) {
    const status = await stat(path.join(folder, blobPath(digest))).catch(() => null)
    return status?.size ?? null
  },
  read: (digest) => readFileChunks(path.join(folder, blobPath(digest))),
})

/** The index of a layout in a folder; null when the folder is none. */
export const readIndex = (folder: string): Promise<string | null> => readFile(path.join(folder, 'index.json'), 'utf8').catch(() => null)

/** Writes a layout into a folder. */
export interface LayoutWriter {
  /** Stores bytes as they come. */
  add(mediaType: string, chunks: Chunks): Promise<Descriptor>
  addJson(mediaType: string, value: unknown): Promise<Descriptor>
  /** Stores blobs of another layout. */
  copy(descriptors: readonly Descriptor[], from: Blobs): Promise<void>
  /** Names the entries of the layout, in this order: `<repository>:<tag>`. */
  finish(entries: readonly { readonly reference: string; readonly descriptor: Descriptor }[]): Promise<void>
}

/** Begins a layout. The same content gives the same bytes. */
export async function createLayout(folder: string): Promise<LayoutWriter> {
  const blobs = path.join(folder, 'blobs', 'sha256')
  await mkdir(blobs, { recursive: true })

  async function add(mediaType: string, chunks: Chunks): Promise<Descriptor> {
    const staged = path.join(blobs, `.${randomUUID()}`)
    try {
      const { sha256, size } = await writeFileChunks(staged, chunks)
      await rename(staged, path.join(blobs, sha256))
      return { mediaType, digest: `sha256:${sha256}`, size }
    } finally {
      await rm(staged, { force: true })
    }
  }

  return {
    add,
    addJson: (mediaType, value) => add(mediaType, [Buffer.from(JSON.stringify(value))]),
    async copy(descriptors, from) {
      for (const { mediaType, digest } of descriptors) {
        const copied = await add(mediaType, from.read(digest))
        if (copied.digest !== digest) throw new DistributionFault('blob_changed', `${blobPath(digest)} is not what its name says`)
      }
    },
    async finish(entries) {
      const manifests = entries.map(({ reference, descriptor: { annotations, ...descriptor } }) => ({
        ...descriptor,
        annotations: { ...annotations, [refName]: reference },
      }))
      await writeFile(path.join(folder, 'oci-layout'), layoutMarker)
      await writeFile(path.join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.index, manifests }))
    },
  }
}
