import { z } from 'zod'
import { parseDocument } from '../../../src/distribution/oci/documents.ts'

/** A component of a CycloneDX document. */
export interface Component {
  readonly type: 'application' | 'framework' | 'library' | 'operating-system'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly licenses?: readonly ({ readonly expression: string } | { readonly license: { readonly name: string } })[]
  readonly hashes?: readonly { readonly alg: 'SHA-256' | 'SHA-512'; readonly content: string }[]
  readonly supplier?: { readonly name: string }
  readonly cpe?: string
  /** The place of the component in the image. */
  readonly evidence?: { readonly occurrences: readonly { readonly location: string }[] }
  /** The parts of the component: the shared libraries of a package, the libraries of Node. */
  readonly components?: readonly Component[]
}

/** `package-lock.json`, or npm's copy of it beside the installed packages. */
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

/** Returns the folder in which Node finds a package: the nearest `node_modules` above. */
function resolve(from: string, name: string, known: ReadonlyMap<string, string>): string {
  for (let folder = `${from}/`; ; folder = folder.slice(0, folder.lastIndexOf('node_modules/', folder.length - 14))) {
    const candidate = `${folder}node_modules/${name}`
    if (known.has(candidate) || folder === '') return candidate
  }
}
