import { cpeOfSource, upstreamVersion } from './cpe.ts'
import type { Component } from './components.ts'

const installed = 'install ok installed'

/** The files of an image that describe its Debian packages. */
export interface DebianFiles {
  /** `debian-13` */
  readonly distribution: string
  /** The copyright file of a package; null: there is none. */
  readonly copyright: (name: string) => string | null
  /** The shared libraries of a package. */
  readonly libraries: (name: string) => readonly SharedLibrary[]
}

/** A file that programs load. */
export interface SharedLibrary {
  readonly path: string
  readonly sha256: string
}

/** Debian's packages, from dpkg's status file. */
export function debianComponents(status: string, files: DebianFiles): readonly Component[] {
  return status
    .split(/\n{2,}/)
    .map(fieldsOf)
    .filter((fields) => fields['Package'] !== undefined && (fields['Status'] ?? installed).startsWith(installed))
    .map((fields) => debianComponent(fields, files))
}

type Fields = Readonly<Record<string, string | undefined>>

function debianComponent(fields: Fields, { distribution, copyright, libraries }: DebianFiles): Component {
  const { Package: name = '', Version: version = '', Architecture: architecture = '', Maintainer: supplier = '' } = fields
  const [upstream = name] = (fields['Source'] ?? name).split(' ')
  const origin = upstream === name ? '' : `&upstream=${upstream}`
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${distribution}${origin}`
  const cpe = cpeOfSource(upstream, version)
  const brought = libraries(name).map((library) => libraryComponent(library, { version: upstreamVersion(version), cpe }))
  const licences = licencesOf(name, copyright(name))
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    cpe,
    supplier: { name: supplier },
    ...(licences.length > 0 && { licenses: licences }),
    ...(brought.length > 0 && { components: brought }),
  }
}

const libraryComponent = ({ path, sha256 }: SharedLibrary, { version, cpe }: { version: string; cpe: string }): Component => ({
  type: 'library',
  'bom-ref': `file:/${path}`,
  name: path.slice(path.lastIndexOf('/') + 1),
  version,
  cpe,
  hashes: [{ alg: 'SHA-256', content: sha256 }],
  evidence: { occurrences: [{ location: `/${path}` }] },
})

/** The short names in a copyright file of Debian's machine-readable form; of another form, where the text is. */
function licencesOf(name: string, copyright: string | null): NonNullable<Component['licenses']> {
  if (copyright === null) return []
  const names = /^Format:/m.test(copyright)
    ? [...copyright.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, licence = '']) => licence.trim())
    : []
  const unique = [...new Set(names)].toSorted()
  return (unique.length > 0 ? unique : [`see /usr/share/doc/${name}/copyright`]).map((licence) => ({ license: { name: licence } }))
}

/** The fields of one entry; lines that begin with a space go on with the one before, and are not needed here. */
const fieldsOf = (entry: string): Fields =>
  Object.fromEntries([...entry.matchAll(/^([A-Za-z-]+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]))

/** Name and version of the distribution, from `os-release`. */
export function osOf(release: string): { readonly id: string; readonly version: string; readonly title: string } {
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(release)?.[1] ?? ''
  return { id: field('ID'), version: field('VERSION_ID'), title: field('PRETTY_NAME') }
}
