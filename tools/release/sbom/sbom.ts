import { createHash } from 'node:crypto'
import { DistributionFault } from '../../../src/distribution/fault.ts'
import type { Blobs } from '../../../src/distribution/oci/artifacts.ts'
import type { Descriptor } from '../../../src/distribution/oci/documents.ts'
import { directDependencies, npmComponents, type Component } from './components.ts'
import { copyrightOf, librariesByPackage, readContents } from './contents.ts'
import { debianComponents, osOf } from './debian.ts'
import { nodeComponents } from './node.ts'

/** The image that a bill of materials is about. */
export interface SbomSubject {
  readonly version: string
  /** ISO 8601. */
  readonly created: string
  readonly manifest: Descriptor
  readonly layers: readonly Descriptor[]
}

/** A bill of materials as CycloneDX 1.6. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX'
  readonly components: readonly Component[]
}

const npmLock = 'app/node_modules/.package-lock.json'
const npmManifest = 'app/package.json'
const consolePackages = 'app/assets/console/components.json'
const nodeHeader = 'usr/local/include/node/node_version.h'
const nodeVersions = 'usr/local/include/node/versions.json'
const dpkgStatus = 'var/lib/dpkg/status'
const osRelease = 'usr/lib/os-release'
const wanted: ReadonlySet<string> = new Set([npmLock, npmManifest, consolePackages, nodeHeader, nodeVersions, dpkgStatus, osRelease])

/**
 * Reads the contents of an image, and describes them as CycloneDX 1.6: Debian's packages with their shared libraries, Node with its own dependencies,
 * npm's packages, and those of which the web console is built.
 */
export async function createSbom(subject: SbomSubject, blobs: Blobs): Promise<Sbom> {
  const contents = await readContents(subject.layers, blobs, wanted)
  const { documents } = contents
  const text = (path: string) => {
    const found = documents.get(path)
    if (found === undefined)
      throw new DistributionFault('manifest_malformed', `the image has no /${path}, so nobody can say what it consists of`)
    return found
  }
  const os = osOf(text(osRelease))
  const libraries = librariesByPackage(contents)
  const console = npmComponents(documents.get(consolePackages) ?? noPackages)
  const npm = [...npmComponents(text(npmLock)), ...console]
  const direct = new Set([...directDependencies(text(npmManifest)), ...rootsOf(console)])
  const components: readonly Component[] = [
    { type: 'operating-system', 'bom-ref': 'operating-system', name: os.id, version: os.version },
    ...debianComponents(text(dpkgStatus), {
      distribution: `${os.id}-${os.version}`,
      copyright: (name) => copyrightOf(contents, name),
      libraries: (name) => libraries.get(name) ?? [],
    }),
    ...nodeComponents(documents.get(nodeHeader) ?? '', documents.get(nodeVersions) ?? null),
    ...npm.map(({ component }) => component),
  ]
  const unique = [...new Map(components.map((component) => [component['bom-ref'], component])).values()]
  return documentOf(subject, unique, [
    {
      ref: 'gatehouse',
      dependsOn: unique
        .filter(({ purl = '', name }) => !purl.startsWith('pkg:npm/') || direct.has(name))
        .map((component) => component['bom-ref'])
        .toSorted(),
    },
    ...new Map(
      npm.map(({ component, uses }) => [component['bom-ref'], { ref: component['bom-ref'], dependsOn: [...new Set(uses)].toSorted() }]),
    ).values(),
  ])
}

/** Releases before the console had none. */
const noPackages = '{"packages":{}}'

/** Returns the names of the packages that no other of them uses. */
function rootsOf(packages: ReturnType<typeof npmComponents>): readonly string[] {
  const used = new Set(packages.flatMap(({ uses }) => uses))
  return packages.filter(({ component }) => !used.has(component['bom-ref'])).map(({ component }) => component.name)
}

interface Dependency {
  readonly ref: string
  readonly dependsOn: readonly string[]
}

function documentOf(
  { version, created, manifest }: SbomSubject,
  components: readonly Component[],
  dependencies: readonly Dependency[],
): Sbom {
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidFrom(manifest.digest)}`,
    version: 1,
    metadata: {
      timestamp: created,
      component: {
        type: 'container',
        'bom-ref': 'gatehouse',
        name: 'gatehouse',
        version,
        hashes: [{ alg: 'SHA-256', content: manifest.digest.slice('sha256:'.length) }],
      },
    },
    components,
    dependencies,
  } as const
  return bill
}

/** A UUID that is the same for the same image (version 8: made of a hash). */
function uuidFrom(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
}
