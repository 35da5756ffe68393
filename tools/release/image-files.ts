import { createGunzip } from 'node:zlib'
import { pipeline, Readable } from 'node:stream'
import { DistributionFault } from '../../src/distribution/fault.ts'
import { scanTar, type ScannedMember } from '../../src/distribution/tar/scan.ts'
import { streamSource } from './stream-source.ts'
import type { Blobs } from '../../src/distribution/oci/artifacts.ts'
import type { Descriptor } from '../../src/distribution/oci/documents.ts'

/** A file of an image, and how to read it before the next one is asked for. */
export interface ImageFile extends ScannedMember {
  readonly read: () => Promise<Buffer>
}

/** The files of one layer, in its order. */
export async function* filesOfLayer(layer: Descriptor, blobs: Blobs): AsyncGenerator<ImageFile> {
  const source = streamSource(unpacked(layer, blobs))
  for await (const member of scanTar(source)) yield { ...member, read: () => source.read(member.size) }
}

function unpacked({ mediaType, digest }: Descriptor, blobs: Blobs): AsyncIterable<Uint8Array> {
  const packed = Readable.from(blobs.read(digest), { objectMode: false })
  if (/(?:\+gzip|\.tar\.gzip)$/.test(mediaType)) return pipeline(packed, createGunzip(), () => undefined)
  if (mediaType.endsWith('.tar')) return packed
  throw new DistributionFault('manifest_malformed', `the layer ${digest} is of the type ${mediaType}, which is not known here`)
}
