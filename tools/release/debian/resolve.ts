import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DistributionFault } from '../../../src/distribution/fault.ts'
import { runStep } from '../image/run.ts'
import { architectures, readUris, type DebianLock } from './lock.ts'

/** The mirror that is asked for versions; the packages themselves may come from another. */
const mirror = 'http://deb.debian.org'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** The newest versions of the wanted packages, from Debian's signed lists, independent of the Debian of this machine. Throws DistributionFault. */
export async function resolveLock(lock: DebianLock, day: string): Promise<DebianLock> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-apt-'))
  try {
    const packages: DebianLock['packages'] = {}
    for (const architecture of architectures) packages[architecture] = await resolve(lock, architecture, folder)
    return { ...lock, day, packages }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function resolve({ debian, wanted }: DebianLock, architecture: string, folder: string) {
  const own = path.join(folder, architecture)
  await mkdir(path.join(own, 'lists', 'partial'), { recursive: true })
  const archives = [
    `${mirror}/debian ${debian.codename}`,
    `${mirror}/debian ${debian.codename}-updates`,
    `${mirror}/debian-security ${debian.codename}-security`,
  ]
  await writeFile(path.join(own, 'sources.list'), archives.map((archive) => `deb [signed-by=${keyring}] ${archive} main\n`).join(''))
  await writeFile(path.join(own, 'status'), '')
  const step = (...args: readonly string[]) =>
    runStep({
      title: `the packages of Debian ${debian.codename}`,
      command: ['apt-get', ...ownFolders(own, architecture), ...args],
      cwd: own,
    })
  await step('-qq', 'update')
  const names = [...new Set([...wanted.release, ...wanted.evaluation])].toSorted()
  const found = new Map(readUris(await step('-qq', 'download', '--print-uris', ...names)))
  const missing = names.filter((name) => !found.has(name))
  if (missing.length > 0)
    throw new DistributionFault(
      'build_failed',
      `Debian ${debian.codename} tells no version and SHA-256 of ${missing.join(', ')} for ${architecture}`,
    )
  return Object.fromEntries(names.map((name) => [name, found.get(name) ?? never()]))
}

const never = (): never => {
  throw new Error('a package without a version')
}

/** Options with which apt reads and writes no folder of this machine. */
function ownFolders(own: string, architecture: string): readonly string[] {
  const settings = {
    'Dir::Etc::sourcelist': path.join(own, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State': own,
    'Dir::State::lists': path.join(own, 'lists'),
    'Dir::State::status': path.join(own, 'status'),
    'Dir::Cache': path.join(own, 'cache'),
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
}
