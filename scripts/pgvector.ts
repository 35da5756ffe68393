// Brings a PostgreSQL with the extension pgvector into .tools/, for the tests of the semantic cache: `node scripts/pgvector.ts`. It is the
// server of the evaluation image, of the packages in docker/debian.lock.json, with Debian's package of the extension. Unpacked, not installed.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { DebianLock } from '../tools/release/debian/lock.ts'

const root = path.resolve(import.meta.dirname, '..')
const tools = path.join(root, '.tools')
const run = promisify(execFile)

const pool = 'debian/pool/main/p/pgvector/postgresql-17-pgvector_0.8.0-1'
const extension = {
  amd64: { version: '0.8.0-1', file: `${pool}_amd64.deb`, sha256: '6e8a457eb252617b66cf7b2908c736127eae43703fffec94492ac131ca921515' },
  arm64: { version: '0.8.0-1', file: `${pool}_arm64.deb`, sha256: '4e3b71c259aaaef94ea4d23ecb50ef6f9d78e68d2838b54a9cd38de13432854d' },
}

/** Returns a folder with a Debian that has the server, to be run with chroot; or why there is none. */
export async function providePgvector(): Promise<{ readonly folder: string } | { readonly missing: string }> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return { missing: 'a server with pgvector runs with chroot, which takes root on Linux' }
  const hasChroot = await run('chroot', ['--version']).then(
    () => true,
    () => false,
  )
  if (!hasChroot) return { missing: 'a server with pgvector runs with chroot, which is not on the PATH' }
  try {
    return { folder: await unpacked() }
  } catch (error) {
    return { missing: `pgvector cannot be had from Debian's packages: ${error instanceof Error ? error.message : String(error)}` }
  }
}

async function unpacked(): Promise<string> {
  const lock = DebianLock.parse(JSON.parse(await readFile(path.join(root, 'docker/debian.lock.json'), 'utf8')))
  const wanted = JSON.stringify({
    ...lock,
    wanted: { ...lock.wanted, evaluation: [...lock.wanted.evaluation, 'postgresql-17-pgvector'] },
    packages: {
      amd64: { ...lock.packages.amd64, 'postgresql-17-pgvector': extension.amd64 },
      arm64: { ...lock.packages.arm64, 'postgresql-17-pgvector': extension.arm64 },
    },
  })
  const folder = path.join(tools, `pgvector-${createHash('sha256').update(wanted).digest('hex').slice(0, 16)}`)
  if (existsSync(folder)) return folder
  await mkdir(tools, { recursive: true })
  const scratch = await mkdtemp(path.join(tools, 'pgvector-'))
  try {
    await fill(scratch, wanted)
    await rename(path.join(scratch, 'debian'), folder)
  } catch (error) {
    // Another test may have been faster.
    if (!existsSync(folder)) throw error
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  return folder
}

async function fill(scratch: string, wanted: string): Promise<void> {
  const [lock, packages, debian] = ['lock.json', 'deb', 'debian'].map((name) => path.join(scratch, name)) as [string, string, string]
  await writeFile(lock, wanted)
  await run('node', [path.join(root, 'docker/packages.mjs'), packages, 'evaluation', lock], { timeout: 180_000 })
  for (const name of await readdir(packages)) {
    if (name.endsWith('.deb')) await run('dpkg-deb', ['--extract', path.join(packages, name), debian])
  }
  for (const name of ['dev', 'data', 'tmp']) await mkdir(path.join(debian, name), { recursive: true })
  await run('mknod', ['-m', '666', path.join(debian, 'dev/null'), 'c', '1', '3'])
  await run('chmod', ['1777', path.join(debian, 'tmp'), path.join(debian, 'data')])
  await writeFile(path.join(debian, 'etc/passwd'), 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n')
  await writeFile(path.join(debian, 'etc/group'), 'nogroup:x:65534:\n')
}

if (import.meta.main) console.log(await providePgvector())
