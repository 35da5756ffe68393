import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { filesOfLayer } from '../../tools/release/image-files.ts'
import { folderBlobs } from '../../src/distribution/oci/layout.ts'
import { upstreamVersion } from '../../tools/release/sbom/cpe.ts'
import { endedBy } from '../../tools/release/sbom/end-of-life.ts'
import type { Component } from '../../tools/release/sbom/components.ts'

/** The version in a binary itself, by the name of the component. Read from its bytes, without the bill of materials. */
const fingerprints: readonly (readonly [file: RegExp, component: string, version: RegExp])[] = [
  [/\/libcrypto\.so\.3$/, 'libcrypto.so.3', /OpenSSL (\d+\.\d+\.\d+) \d/],
  [/\/libssl\.so\.3$/, 'libssl.so.3', /OpenSSL (\d+\.\d+\.\d+) \d/],
  [/\/libc\.so\.6$/, 'libc.so.6', /GNU C Library [^\n]* version (\d+\.\d+)/],
  [/\/libz\.so\.[\d.]+$/, 'zlib1g', /inflate (\d+(?:\.\d+)+) Copyright/],
  [/\/local\/bin\/node$/, 'openssl', /OpenSSL (\d+\.\d+\.\d+) \d/],
  [/\/local\/bin\/node$/, 'node', /\bv(2\d\.\d+\.\d+)\0/],
  [/\/postgresql\/\d+\/bin\/postgres$/, 'postgresql', /postgres \(PostgreSQL\) (\d+\.\d+)/],
]

interface Bill {
  readonly components: readonly Component[]
}

/** Proves that a bill of materials names each binary of the image with the version that is in it, and that all of them are still mended. */
export async function checkContents(release: string): Promise<string> {
  const [name = ''] = await readdir(path.join(release, 'sbom'))
  const { components } = JSON.parse(await readFile(path.join(release, 'sbom', name), 'utf8')) as Bill
  const all = components.flatMap((component) => [component, ...(component.components ?? [])])
  const located = new Map(
    all.flatMap((component) => (component.evidence?.occurrences ?? []).map(({ location }) => [location, component] as const)),
  )
  const [libraries, compared] = [[] as string[], [] as string[]]
  for await (const { file, text } of binariesOf(release)) {
    if (/\.so(?:\.|$)/.test(file)) {
      const component = located.get(file)
      assert.ok(component?.cpe !== undefined && component.version !== '', `${file} is no component with a version and a CPE`)
      libraries.push(file)
    }
    for (const [pattern, named, version] of fingerprints) {
      if (!pattern.test(file)) continue
      const found = version.exec(text)?.[1]
      if (found === undefined) continue
      const versions = all
        .filter((component) => component.name === named || component.name.replace(/-\d+$/, '') === named)
        .map((component) => component.version)
      assert.ok(
        versions.some((told) => upstreamVersion(told) === found),
        `${file} says ${found}, and the bill of materials says ${versions.join(', ')} of ${named}`,
      )
      compared.push(`${named} ${found}`)
    }
  }
  assert.deepEqual(endedBy(new Date().toISOString().slice(0, 10), components), [])
  for (const { name: deb, purl = '', licenses, cpe } of components)
    if (purl.startsWith('pkg:deb/')) assert.ok(licenses !== undefined && cpe !== undefined, `${deb} has no licence or no CPE`)
  assert.ok(
    compared.some((told) => told.startsWith('openssl ')) && compared.some((told) => told.startsWith('libc.so.6 ')),
    compared.join(', '),
  )
  return `${libraries.length} shared libraries; read from binaries: ${compared.join(', ')}`
}

const magic = '\u007fELF'

async function* binariesOf(release: string) {
  const folder = path.join(release, 'oci')
  const index = JSON.parse(await readFile(path.join(folder, 'index.json'), 'utf8')) as { manifests: { digest: string }[] }
  const manifest = JSON.parse(await readFile(path.join(folder, 'blobs', (index.manifests[0]?.digest ?? '').replace(':', '/')), 'utf8')) as {
    layers: { digest: string; size: number; mediaType: string }[]
  }
  for (const layer of manifest.layers) {
    for await (const { path: file, type, size, read } of filesOfLayer(layer, folderBlobs(folder))) {
      if (type !== 'file' || size < magic.length) continue
      const text = (await read()).toString('latin1')
      if (text.startsWith(magic)) yield { file: `/${file}`, text }
    }
  }
}
