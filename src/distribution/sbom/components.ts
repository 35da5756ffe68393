import { z } from 'zod'
import { parseDocument } from '../oci/documents.ts'

/** A component of a CycloneDX document. */
export interface Component {
  readonly type: 'application' | 'framework' | 'library' | 'operating-system'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly licenses?: readonly ({ readonly expression: string } | { readonly license: { readonly name: string } })[]
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[]
  readonly supplier?: { readonly name: string }
}

/** `package-lock.json`, or what npm writes of it beside the packages that it installed. */
const NpmLock = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      integrity: z.string().optional(),
      license: z.string().optional(),
      dependencies: z.record(z.string(), z.string()).default({}),
      optionalDependencies: z.record(z.string(), z.string()).default({}),
    }),
  ),
})

/** A package that npm installed, and the refs of those that it uses. */
export interface NpmComponent {
  readonly component: Component
  readonly uses: readonly string[]
}

const NpmManifest = z.object({ dependencies: z.record(z.string(), z.string()).default({}) })

/** The packages that a program itself asks for. Throws DistributionFault. */
export const directDependencies = (manifest: string): readonly string[] =>
  Object.keys(parseDocument(NpmManifest, manifest, 'package.json').dependencies)

/** The packages that npm installed, from the lock file beside them. Throws DistributionFault. */
export function npmComponents(lock: string): readonly NpmComponent[] {
  const { packages } = parseDocument(NpmLock, lock, '.package-lock.json')
  const installed = Object.entries(packages).filter(([path, { version }]) => path !== '' && version !== undefined)
  const refs = new Map(installed.map(([path, { version = '' }]) => [path, npmUrl(nameOf(path), version)]))
  return installed.map(([path, entry]) => {
    const { version = '', integrity, license } = entry
    const purl = npmUrl(nameOf(path), version)
    const needed = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
    return {
      component: {
        type: 'library',
        'bom-ref': purl,
        name: nameOf(path),
        version,
        purl,
        ...(license !== undefined && { licenses: [licenseOf(license)] }),
        ...(integrity?.startsWith('sha512-') && {
          hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }],
        }),
      },
      uses: needed.flatMap((name) => refs.get(resolve(path, name, refs)) ?? []),
    }
  })
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

const npmUrl = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`

const licenseOf = (text: string) =>
  /^[\w.+-]+(?: (?:OR|AND|WITH) [\w.+-]+)*$/.test(text.replaceAll(/[()]/g, '')) ? { expression: text } : { license: { name: text } }

/** Where Node finds a package: in the nearest `node_modules` above. */
function resolve(from: string, name: string, known: ReadonlyMap<string, string>): string {
  for (let folder = `${from}/`; ; folder = folder.slice(0, folder.lastIndexOf('node_modules/', folder.length - 14))) {
    const candidate = `${folder}node_modules/${name}`
    if (known.has(candidate) || folder === '') return candidate
  }
}

const installed = 'install ok installed'

/** Debian's packages, from dpkg's status file. */
export function debianComponents(status: string, distribution: string): readonly Component[] {
  return status
    .split(/\n{2,}/)
    .map(fieldsOf)
    .filter((fields) => fields['Package'] !== undefined && (fields['Status'] ?? installed).startsWith(installed))
    .map((fields) => debianComponent(fields, distribution))
}

type Fields = Readonly<Record<string, string | undefined>>

function debianComponent(fields: Fields, distribution: string): Component {
  const { Package: name = '', Version: version = '', Architecture: architecture = '', Maintainer: supplier = '' } = fields
  const [upstream = name] = (fields['Source'] ?? name).split(' ')
  const origin = upstream === name ? '' : `&upstream=${upstream}`
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${distribution}${origin}`
  return { type: 'library', 'bom-ref': purl, name, version, purl, supplier: { name: supplier } }
}

/** The fields of one entry; lines that begin with a space go on with the one before, and are not needed here. */
const fieldsOf = (entry: string): Fields =>
  Object.fromEntries([...entry.matchAll(/^([A-Za-z-]+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]))

/** Name and version of the distribution, from `os-release`. */
export function osOf(release: string): { readonly id: string; readonly version: string; readonly title: string } {
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(release)?.[1] ?? ''
  return { id: field('ID'), version: field('VERSION_ID'), title: field('PRETTY_NAME') }
}

/** The version that Node's headers tell; null when they do not. */
export function nodeVersionOf(header: string): string | null {
  const numbers = ['MAJOR', 'MINOR', 'PATCH'].map((part) => new RegExp(`^#define NODE_${part}_VERSION (\\d+)$`, 'm').exec(header)?.[1])
  return numbers.includes(undefined) ? null : numbers.join('.')
}
