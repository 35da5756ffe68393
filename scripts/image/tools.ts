import { execFile, type ExecFileOptions } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The abilities of this machine. */
export interface Tools {
  /** Builds with buildah, as root. */
  readonly builds: boolean
  /** Makes a base from Debian's packages, which is all that the builder without buildah needs. */
  readonly bases: boolean
  /** Runs containers. */
  readonly runs: boolean
  /** The skipped steps, and why. */
  readonly missing: readonly (readonly [what: string, why: string])[]
}

const packages = ['buildah', 'runc', 'umoci']

/** Looks for the tools, and installs them where a CI machine lets us. */
export async function findTools(): Promise<Tools> {
  const root = process.getuid?.() === 0
  if (process.platform !== 'linux') return none('this is no Linux')
  if (!(await hasAll(['apt-get', '/usr/lib/apt/apt-helper', 'dpkg-deb', 'openssl'])))
    return none('this is no Debian or Ubuntu, whose tools make the base')
  const mayInstall = root && process.env['CI'] === 'true'
  if (mayInstall && (await lacking(packages)).length > 0) await install()
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

const succeeds = (program: string, args: readonly string[], options: ExecFileOptions = {}) =>
  execute(program, [...args], options).then(
    () => true,
    () => false,
  )

const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
const aptGet = (args: readonly string[]) => succeeds('apt-get', args, { env: environment, timeout: 120_000 })

/** A machine whose lists are old, or that has none. */
const refresh = () => aptGet(['update', '-qq'])

const get = () => aptGet(['install', '-y', '-qq', '--no-install-recommends', ...packages])

async function install(): Promise<void> {
  if (!(await get()) && (await refresh())) await get()
}
