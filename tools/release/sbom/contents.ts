import { createHash } from 'node:crypto'
import { DistributionFault } from '../../../src/distribution/fault.ts'
import type { Blobs } from '../../../src/distribution/oci/artifacts.ts'
import type { Descriptor } from '../../../src/distribution/oci/documents.ts'
import { filesOfLayer } from '../image-files.ts'
import type { SharedLibrary } from './debian.ts'

/** The input of a bill of materials. */
export interface ImageContents {
  /** The documents by path. */
  readonly documents: ReadonlyMap<string, string>
  /** The targets of the links of an image, by path. */
  readonly links: ReadonlyMap<string, string>
  /** Programs and libraries in the machine's own form. */
  readonly binaries: readonly SharedLibrary[]
}

const dpkgList = /^var\/lib\/dpkg\/info\/([^/:]+)(?::[^/]+)?\.list$/
const copyright = /^usr\/share\/doc\/[^/]+\/copyright$/
const elf = Buffer.from([0x7f, 0x45, 0x4c, 0x46])

/** Reads an image once: the documents of that name, its lists of packages, and each binary. */
export async function readContents(layers: readonly Descriptor[], blobs: Blobs, named: ReadonlySet<string>): Promise<ImageContents> {
  const [documents, links, binaries] = [new Map<string, string>(), new Map<string, string>(), new Map<string, SharedLibrary>()]
  for (const layer of layers) {
    for await (const { path, type, target, size, read } of filesOfLayer(layer, blobs)) {
      if (type === 'link') links.set(path, target)
      if (type !== 'file') continue
      const isDocument = named.has(path) || dpkgList.test(path) || copyright.test(path)
      if (!isDocument && size < elf.length) continue
      const bytes = await read()
      if (isDocument) documents.set(path, bytes.toString('utf8'))
      else if (bytes.subarray(0, elf.length).equals(elf))
        binaries.set(path, { path, sha256: createHash('sha256').update(bytes).digest('hex') })
    }
  }
  return { documents, links, binaries: [...binaries.values()] }
}

/** Node itself, whose own files state its version. */
const known = new Set(['usr/local/bin/node'])

/** The shared libraries by the package that they belong to. Throws DistributionFault when a binary belongs to none. */
export function librariesByPackage({ documents, binaries }: ImageContents): ReadonlyMap<string, readonly SharedLibrary[]> {
  const owners = new Map<string, string>()
  for (const [path, text] of documents) {
    const name = dpkgList.exec(path)?.[1]
    if (name !== undefined) for (const file of text.split('\n')) owners.set(merged(file.slice(1)), name)
  }
  const libraries = new Map<string, SharedLibrary[]>()
  for (const binary of binaries) {
    const owner = owners.get(merged(binary.path))
    if (owner === undefined && !known.has(binary.path))
      throw new DistributionFault(
        'manifest_malformed',
        `the image has /${binary.path}, and none of its packages: nobody can say what it is`,
      )
    if (owner !== undefined && binary.path.includes('.so')) libraries.set(owner, [...(libraries.get(owner) ?? []), binary])
  }
  return libraries
}

/** /lib is /usr/lib on Debian, and so with the others; the lists of packages use both. */
const merged = (path: string) => path.replace(/^(?=(?:bin|lib|lib64|sbin)\/)/, 'usr/')

/** The copyright file of a package, whose folder may be a link to that of another. */
export function copyrightOf({ documents, links }: ImageContents, name: string): string | null {
  const target = links.get(`usr/share/doc/${name}`)
  const folder = target === undefined ? name : target.slice(target.lastIndexOf('/') + 1)
  return documents.get(`usr/share/doc/${folder}/copyright`) ?? null
}
