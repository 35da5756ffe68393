import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** How a container is run. */
export interface ContainerOptions {
  readonly args: readonly string[]
  /** As the cluster or the operator says; the group is 0. */
  readonly uid?: number
  readonly env?: Readonly<Record<string, string>>
  /** True: the machine's network. Absent: none but a loopback of its own. */
  readonly network?: boolean
  /** The folder of the machine that is its volume, which group 0 may write; absent: memory that goes with the container. */
  readonly volume?: string
}

/** A container that runs: read-only, without capabilities, as a user unknown to the machine. */
export interface Container {
  readonly output: () => string
  /** Runs a script of Node in it and returns its output. */
  run(script: string): Promise<string>
  /** Resolves with the exit code. */
  exit(): Promise<number | null>
  stop(): Promise<number | null>
}

interface OciConfig {
  process: {
    args: string[]
    env: string[]
    terminal: boolean
    noNewPrivileges: boolean
    user: object
    capabilities: Record<string, string[]>
  }
  root: object
  linux: { namespaces: { type: string }[] }
  mounts: { destination: string; type: string; source: string; options: string[] }[]
}

let containers = 0

/** Unpacks the image of an OCI layout once, as a runtime of containers wants it. */
export async function unpack(from: string, work: string): Promise<string> {
  const [layout, image] = [path.join(work, 'layout'), path.join(work, 'container')]
  // umoci takes no tag with a colon.
  await mkdir(layout, { recursive: true })
  await symlink(path.join(from, 'blobs'), path.join(layout, 'blobs'))
  await copyFile(path.join(from, 'oci-layout'), path.join(layout, 'oci-layout'))
  const index = JSON.parse(await readFile(path.join(from, 'index.json'), 'utf8')) as { manifests: object[] }
  const manifests = index.manifests
    .slice(0, 1)
    .map((manifest) => Object.assign(manifest, { annotations: { 'org.opencontainers.image.ref.name': 'image' } }))
  await writeFile(path.join(layout, 'index.json'), JSON.stringify({ ...index, manifests }))
  await execute('umoci', ['unpack', '--image', `${layout}:image`, image], { maxBuffer: 16 * 1024 * 1024 })
  return image
}

/** Starts a container of the unpacked image. */
export async function startContainer(image: string, options: ContainerOptions): Promise<Container> {
  const id = `gatehouse-check-${process.pid}-${++containers}`
  const folder = `${image}-${containers}`
  await writeContainer(folder, image, options)
  return follow(spawn('runc', ['run', '--bundle', folder, id], { stdio: ['ignore', 'pipe', 'pipe'] }), id)
}

/** Writes the input of `runc run --bundle`: read-only, without capabilities, as the user that is named. */
export async function writeContainer(
  folder: string,
  image: string,
  { args, uid = 10_001, env = {}, network = false, volume }: ContainerOptions,
): Promise<void> {
  await mkdir(folder)
  const config = JSON.parse(await readFile(path.join(image, 'config.json'), 'utf8')) as OciConfig
  const { process: program } = config
  const command = program.args.slice(0, program.args.indexOf('serve'))
  Object.assign(program, { args: [...command, ...args], terminal: false, noNewPrivileges: true, user: { uid, gid: 0 } })
  program.env.push(...Object.entries(env).map(([name, value]) => `${name}=${value}`))
  for (const kind of Object.keys(program.capabilities)) program.capabilities[kind] = []
  config.root = { path: path.join(image, 'rootfs'), readonly: true }
  // A runtime's form of a volume: a folder that group 0 may write.
  config.mounts = config.mounts.filter(({ destination }) => destination !== '/data')
  config.mounts.push(
    volume === undefined
      ? { destination: '/data', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=0770', 'uid=0', 'gid=0'] }
      : { destination: '/data', type: 'bind', source: volume, options: ['bind', 'rw', 'nosuid', 'nodev'] },
  )
  config.mounts.push({ destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] })
  if (network) config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== 'network')
  await writeFile(path.join(folder, 'config.json'), JSON.stringify(config))
}

function follow(child: ChildProcess, id: string): Container {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close').then(() => child.exitCode)
  return {
    output: () => output,
    run: async (script) => (await execute('runc', ['exec', id, 'node', '--input-type=module', '--eval', script])).stdout.trim(),
    exit: () => ended,
    async stop() {
      await execute('runc', ['kill', id, 'TERM']).catch(() => {})
      return ended
    },
  }
}
