import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** What this machine can do. */
export interface Tools {
  /** Builds with buildah, as root. */
  readonly builds: boolean
  /** Makes a base from Debian's packages, with which the builder without buildah works too. */
  readonly bases: boolean
  /** Runs containers. */
  readonly runs: boolean
  /** What is left out, and why. */
  readonly missing: readonly (readonly [what: string, why: string])[]
}

const packages = ['buildah', 'runc', 'umoci']
const installLimitMs = 120_000

/** Looks for the tools, and installs them where a CI machine lets us. */
export async function findTools(): Promise<Tools> {
  const root = process.getuid?.() === 0
  if (process.platform !== 'linux') return none('this is no Linux')
  if (!(await hasAll(['apt-get', 'dpkg-deb', 'openssl']))) return none('this is no Debian, whose packages make the base')
  if (!(await readFile('/etc/os-release', 'utf8').catch(() => '')).includes('VERSION_CODENAME=bookworm'))
    return none('this is no Debian 12, whose packages make the base')
  const missing = await lacking(packages)
  if (missing.length > 0 && root && process.env['CI'] === 'true') await install()
  if (!(await canFetch())) return none("Debian's packages cannot be fetched here")
  const still = await lacking(packages)
  const isolates = await succeeds('unshare', ['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', 'true'])
  const able = root && still.length === 0 && isolates
  const why = !root
    ? 'this user is not root'
    : still.length > 0
      ? `${still.join(', ')} cannot be installed here`
      : 'this machine lets nobody make namespaces'
  return {
    builds: able,
    bases: true,
    runs: able,
    missing: able
      ? []
      : [
          ['the build of docker/Dockerfile by buildah', why],
          ['the containers', why],
        ],
  }
}

const none = (why: string): Tools => ({ builds: false, bases: false, runs: false, missing: [['all of it', why]] })

async function lacking(names: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(names.map((name) => hasAll([name])))
  return names.filter((_, at) => !found[at])
}

const hasAll = (names: readonly string[]) => succeeds('sh', ['-c', names.map((name) => `command -v ${name}`).join(' && ')])

const succeeds = (program: string, args: readonly string[]) =>
  execute(program, [...args]).then(
    () => true,
    () => false,
  )

const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: installLimitMs }

/** Tries the smallest package of the base. */
async function canFetch(): Promise<boolean> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-fetch-'))
  try {
    await execute('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', 'netbase'], { ...options, cwd: folder })
    return true
  } catch {
    return false
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const get = () => execute('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options)

/** A machine whose lists are old fetches them once. */
async function install(): Promise<void> {
  await get().catch(async () => {
    await execute('apt-get', ['update', '-qq'], options).catch(() => {})
    await get().catch(() => {})
  })
}
