import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { openArchive } from '../../src/distribution/bundle/archive.ts'
import { checkContents } from './contents.ts'
import type { Report } from '../report.ts'
import type { Tools } from './tools.ts'

const execute = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string }

/** `gatehouse`, from this checkout. */
const gatehouse = async (...args: readonly string[]) =>
  (await execute(process.execPath, [path.join(root, 'tools/gatehouse.ts'), ...args], { maxBuffer: 16 * 1024 * 1024 })).stdout

/** The builds, as folders of releases. */
export interface Built {
  readonly version: string
  readonly release: string
  /** Null: it could not be built. */
  readonly evaluation: string | null
  /** Builds an earlier release with the same base, and gives its folder. */
  readonly buildEarlier: (release: string) => Promise<string>
  /** `gatehouse`, from this checkout; returns its output. */
  readonly gatehouse: (...args: readonly string[]) => Promise<string>
}

/** Builds the release twice, compares every file, and makes a bundle of it; builds the image for evaluations. Null: it cannot be built. */
export async function checkBuild({ work, tools, report }: { work: string; tools: Tools; report: Report }): Promise<Built | null> {
  if (!tools.bases) return null
  const list = await findPackages(work, report)
  if (list === null) return null
  const base = async (variant: string) => {
    const folder = path.join(work, `base-${variant}`)
    await execute('sh', [path.join(root, 'docker/base.sh'), folder, variant, list.file])
    return folder
  }
  const bases = await report.check(
    "bases of Debian's and npm's packages",
    async () => [await base('release'), await base('evaluation')] as const,
  )
  if (bases === null) return null
  const buildCut = async (release: string, name: string, ...args: readonly string[]) => {
    const output = path.join(work, name)
    await gatehouse('release', 'build', release, '--output', output, '--packages', list.file, '--allow-dirty', ...args)
    return output
  }
  const build = (name: string, ...args: readonly string[]) => buildCut(version, name, ...args)
  const other = tools.builds ? 'buildah' : 'node'
  // Side by side, because each of them uses hardly more than one core.
  const second = build('second', '--base', bases[0], '--builder', other)
  second.catch(() => {})
  const release = await report.check('the release is built by Node and npm, without a network', () => build('first', '--base', bases[0]))
  await report.check(`another build by ${other} gives the same bytes`, async () => compare(release ?? '', await second))
  if (release === null) return null
  const evaluation = await report.check('the image for evaluations is built', () => build('evaluation', '--base', bases[1], '--evaluation'))
  for (const folder of [release, evaluation])
    if (folder !== null)
      await report.check(
        `each binary of ${path.basename(folder)} is in its bill of materials, with the version that is in it, and is mended today`,
        async () => report.figure(`binaries of ${path.basename(folder)}`, await checkContents(folder)),
      )
  await report.check('the release is signed, bundled and verified', () => bundle(release, { work, report }))
  await tellImage(release, report)
  if (evaluation !== null) await tellImage(evaluation, report)
  return { version, release, evaluation, gatehouse, buildEarlier: (earlier) => buildCut(earlier, earlier, '--base', bases[0]) }
}

/** The list of Debian packages to build with: that of the checkout, or today's where Debian has dropped some of them, which is reported. */
async function findPackages(work: string, report: Report): Promise<{ readonly file: string } | null> {
  const file = path.join(root, 'docker/debian.lock.json')
  const fetched = await execute('node', [path.join(root, 'docker/packages.mjs'), path.join(work, 'packages'), 'evaluation']).then(
    () => null,
    (error: { code?: number; stderr?: string }) => error,
  )
  if (fetched === null) return { file }
  if (fetched.code !== gone) {
    report.skip('all of it', `Debian's packages cannot be fetched here: ${fetched.stderr ?? ''}`)
    return null
  }
  report.skip('the Debian packages of docker/debian.lock.json', `${fetched.stderr ?? ''}\nThe rest is checked with the versions of today`)
  const today = path.join(work, 'debian.lock.json')
  await gatehouse('release', 'lock', '--output', today)
  return { file: today }
}

/** The exit code of docker/packages.mjs for versions that Debian has dropped. */
const gone = 4

const lines = async (folder: string) =>
  (await readFile(path.join(folder, 'SHA256SUMS'), 'utf8'))
    .split('\n')
    .filter((line) => !/provenance\.intoto\.json$|\.lock\.json$/.test(line))

/** The provenance names the builder, and the lock and the list name the provenance; all the rest must be the same. */
async function compare(first: string, second: string): Promise<void> {
  const [one, two] = await Promise.all([lines(first), lines(second)])
  const different = [...one.filter((line) => !two.includes(line)), '', ...two.filter((line) => !one.includes(line))]
  if (different.length > 1) throw new Error(`these are not the same:\n${different.join('\n')}`)
}

async function bundle(release: string, { work, report }: { work: string; report: Report }): Promise<void> {
  const [key, pub, file] = ['release.key', 'gatehouse.pub', 'bundle.tar'].map((name) => path.join(work, name)) as [string, string, string]
  await execute('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key])
  await execute('openssl', ['ec', '-in', key, '-pubout', '-out', pub])
  await gatehouse('release', 'sign', release, '--key', key)
  await gatehouse('release', 'verify', release, '--key', pub, '--without-nightly')
  await gatehouse('bundle', 'create', release, '--key', key, '--output', file)
  await gatehouse('bundle', 'verify', file, '--key', pub)
  const archive = await openArchive(file)
  await archive.close()
  report.figure('bundle', `${megabytes((await stat(file)).size)} in ${archive.files.size} files`)
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

const readJson = async <T>(...parts: readonly string[]) => JSON.parse(await readFile(path.join(...parts), 'utf8')) as T

async function tellImage(release: string, report: Report): Promise<void> {
  const { digests, images } = await readJson<{ digests: Record<string, string>; images: string[] }>(release, `${version}.lock.json`)
  const [image = ''] = images
  const digest = digests[image] ?? ''
  const { layers } = await readJson<{ layers: { size: number }[] }>(release, `oci/blobs/${digest.replace(':', '/')}`)
  report.figure(`digest of ${image}`, digest)
  report.figure(`size of ${image} in a registry`, megabytes(layers.reduce((total, { size }) => total + size, 0)))
  const platform = `linux-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const bill = await readJson<{ components: unknown[] }>(release, `sbom/gatehouse-${version}-${platform}.cdx.json`)
  report.figure(`bill of materials of ${image}`, `${bill.components.length} components`)
}
