import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { DebianLock, LockedPackage } from '../debian/lock.ts'
import { DistributionFault } from '../../../src/distribution/fault.ts'
import { parseDocument } from '../../../src/distribution/oci/documents.ts'
import { runStep } from './run.ts'

/** The purpose of an image: a release, or a trial with a database of its own. */
export type Variant = 'release' | 'evaluation'

/** The tag of an image: the release, and its purpose when it is not to be released. */
export const imageTag = (version: string, variant: Variant): string => (variant === 'release' ? version : `${version}-${variant}`)

/** `packages.json` of a base: the Debian packages that it was made of. */
const BasePackages = z.object({ packages: z.array(LockedPackage.extend({ name: z.string(), architecture: z.string() })) })
export type BasePackage = z.output<typeof BasePackages>['packages'][number]

/** A base on disk. */
export interface Base {
  readonly folder: string
  readonly packages: readonly BasePackage[]
  /** The major version of its PostgreSQL; null: it has none. */
  readonly postgres: string | null
}

interface BaseOptions {
  /** The checkout. */
  readonly root: string
  readonly variant: Variant
  /** The list of Debian packages; null: that of the checkout. */
  readonly lock: string | null
}

/** Makes a base with docker/base.sh. */
export async function makeBase(folder: string, { root, variant, lock }: BaseOptions): Promise<void> {
  const command = ['sh', path.join(root, 'docker/base.sh'), folder, variant, ...(lock === null ? [] : [lock])] as const
  await runStep({ title: 'the base', command })
}

/** Opens a base that was made. Throws DistributionFault when it is not of the packages that the list names. */
export async function openBase(folder: string, { root, variant, lock }: BaseOptions): Promise<Base> {
  for (const name of ['debian.tar', 'node.tar', 'passwd', 'packages.json'])
    if (!existsSync(path.join(folder, name)))
      throw new DistributionFault('file_missing', `there is no ${path.join(folder, name)}: name the folder that docker/base.sh made`)
  const { packages } = parseDocument(BasePackages, await readFile(path.join(folder, 'packages.json'), 'utf8'), 'packages.json of the base')
  const file = lock ?? path.join(root, 'docker', 'debian.lock.json')
  const locked = parseDocument(DebianLock, await readFile(file, 'utf8'), file)
  const expected = wantedOf(locked, variant, packages[0]?.architecture ?? '')
  const found = new Map(packages.map(({ name, sha256 }) => [name, sha256]))
  const different = [...new Set([...expected.keys(), ...found.keys()])].filter((name) => found.get(name) !== expected.get(name))
  if (different.length > 0)
    throw new DistributionFault(
      'version_differs',
      `the base in ${folder} is not made of what ${file} names for the variant "${variant}": ${different.join(', ')}. Make it again with "sh docker/base.sh"`,
    )
  const [, postgres = null] = packages.map(({ name }) => /^postgresql-(\d+)$/.exec(name)).find((match) => match !== null) ?? []
  return { folder, packages, postgres }
}

function wantedOf({ wanted, packages }: DebianLock, variant: Variant, architecture: string): ReadonlyMap<string, string> {
  const locked = packages[architecture] ?? {}
  return new Map([...wanted.release, ...wanted[variant]].map((name) => [name, locked[name]?.sha256 ?? '']))
}

/** A Debian package as its address in bills of materials. */
export const debianUrl = ({ name, version, architecture }: Pick<BasePackage, 'name' | 'version' | 'architecture'>): string =>
  `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`
