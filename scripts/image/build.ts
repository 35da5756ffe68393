import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { openArchive } from '../../src/distribution/bundle/archive.ts'
import type { Report } from './report.ts'
import type { Tools } from './tools.ts'

const execute = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string }

/** `gatehouse`, from this checkout. */
const gatehouse = async (...args: readonly string[]) =>
  (await execute(process.execPath, [path.join(root, 'src/cli/gatehouse.ts'), ...args], { maxBuffer: 16 * 1024 * 1024 })).stdout

/** Builds the release twice, compares every file, and makes a bundle of it. Gives the folder of the release; null: it cannot be built. */
export async function checkBuild({ work, tools, report }: { work: string; tools: Tools; report: Report }): Promise<string | null> {
  if (!tools.bases) return null
  const base = path.join(work, 'base')
  const based = await report.check('a base of Debian packages and npm packages', () =>
    execute('sh', [path.join(root, 'docker/base.sh'), base]),
  )
  if (based === null) return null
  const builder = tools.builds ? 'buildah' : 'node'
  const build = async (name: string) => {
    const output = path.join(work, name)
    await gatehouse('release', 'build', version, '--output', output, '--base', base, '--builder', builder)
    return output
  }
  // Side by side, because each of them uses hardly more than one core.
  const second = build('second')
  second.catch(() => {})
  const first = await report.check(`the release is built by ${builder}, without a network`, () => build('first'))
  await report.check('another build gives the same bytes', async () => {
    const [one, two] = await Promise.all([first ?? '', await second].map((folder) => readFile(path.join(folder, 'SHA256SUMS'), 'utf8')))
    if (one !== two) throw new Error(`these are not the same:\n${one}\n${two}`)
  })
  if (first === null) return null
  await report.check('the release is signed, bundled and verified', () => bundle(first, { work, report }))
  await tellImage(first, report)
  return first
}

async function bundle(release: string, { work, report }: { work: string; report: Report }): Promise<void> {
  const [key, pub, file] = ['release.key', 'gatehouse.pub', 'bundle.tar'].map((name) => path.join(work, name)) as [string, string, string]
  await execute('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key])
  await execute('openssl', ['ec', '-in', key, '-pubout', '-out', pub])
  await gatehouse('release', 'sign', release, '--key', key)
  await gatehouse('release', 'verify', release, '--key', pub)
  await gatehouse('bundle', 'create', release, '--key', key, '--output', file)
  await gatehouse('bundle', 'verify', file, '--key', pub)
  const archive = await openArchive(file)
  await archive.close()
  report.figure('bundle', `${megabytes((await stat(file)).size)} in ${archive.files.size} files`)
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

const readJson = async <T>(...parts: readonly string[]) => JSON.parse(await readFile(path.join(...parts), 'utf8')) as T

async function tellImage(release: string, report: Report): Promise<void> {
  const { digests } = await readJson<{ digests: Record<string, string> }>(release, `${version}.lock.json`)
  const digest = digests[`gatehouse:${version}`] ?? ''
  const { layers } = await readJson<{ layers: { size: number }[] }>(release, `oci/blobs/${digest.replace(':', '/')}`)
  report.figure('digest', digest)
  report.figure('size in a registry', megabytes(layers.reduce((total, { size }) => total + size, 0)))
  const platform = `linux-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const bill = await readJson<{ components: unknown[] }>(release, `sbom/gatehouse-${version}-${platform}.cdx.json`)
  report.figure('bill of materials', `${bill.components.length} components`)
}
