import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { makeFolder } from '../../../lib/make-folder.ts'
import { chooseAccount, runAs, type Account } from './account.ts'
import { findBinaries, type Binaries } from './binaries.ts'
import { freePort } from './port.ts'
import { isAlive } from './process.ts'

/** The name of the database and of the plain login that owns it. */
export const ownName = 'gatehouse'

const Logins = z.object({ superuserPassword: z.string(), password: z.string(), port: z.number() })

/** A database cluster on disk: its folder, the account that runs it, and the passwords that open it. */
export interface Cluster {
  readonly binaries: Binaries
  readonly account: Account | null
  readonly dataFolder: string
  readonly logFile: string
  readonly superuserPassword: string
  readonly password: string
  /** The port to try first, so that a restart is found where it was. */
  readonly port: number
}

const execute = promisify(execFile)

/** Opens the cluster in `dataDir`, and makes it when there is none. */
export async function openCluster(givenDir: string): Promise<Cluster> {
  const binaries = findBinaries()
  makeFolder(givenDir)
  // Without links: a running postmaster is recognised by the path on its command line.
  const dataDir = await realpath(givenDir)
  const folder = path.join(dataDir, 'postgres')
  const dataFolder = path.join(folder, 'data')
  const account = chooseAccount(dataFolder)
  const logins = (await readLogins(folder)) ?? (await createCluster(dataDir, folder, { binaries, account }))
  return { binaries, account, dataFolder, logFile: path.join(dataDir, 'postgres.log'), ...logins }
}

async function readLogins(folder: string): Promise<z.infer<typeof Logins> | null> {
  const file = path.join(folder, 'logins.json')
  try {
    return Logins.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw new Error(`The passwords of the embedded PostgreSQL cannot be read from ${file}.`, { cause: error })
  }
}

/** Built aside and renamed as a whole: a start that is killed leaves no half of a database, and of two starters one wins. */
async function createCluster(dataDir: string, folder: string, { binaries, account }: Pick<Cluster, 'binaries' | 'account'>) {
  const logins = { superuserPassword: randomSecret(), password: randomSecret(), port: await freePort() }
  const staging = path.join(dataDir, `${stagingPrefix}${process.pid}`)
  await removeAbandoned(dataDir)
  try {
    const dataFolder = path.join(staging, 'data')
    await mkdir(staging)
    await chmod(staging, 0o711)
    const passwordFile = path.join(staging, 'password')
    await writeFile(path.join(staging, 'logins.json'), JSON.stringify(logins), { mode: 0o600 })
    await writeFile(passwordFile, logins.superuserPassword, { mode: 0o600 })
    await mkdir(dataFolder, { mode: 0o700 })
    if (account) await Promise.all([dataFolder, passwordFile].map((made) => chown(made, account.uid, account.gid)))
    const initdb = { file: binaries.initdb, args: [...initdbFlags, `--pgdata=${dataFolder}`, `--pwfile=${passwordFile}`] }
    const command = runAs(account, initdb, [binaries.folder, dataFolder])
    await execute(command.file, command.args, { ...command.options, env: {}, cwd: '/' }).catch(explain)
    await rm(passwordFile)
    await rename(staging, folder)
    return logins
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    const others = await readLogins(folder)
    if (others) return others
    throw error
  }
}

const stagingPrefix = 'postgres.new-'

/** Removes the folders that interrupted starts left behind. */
async function removeAbandoned(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(stagingPrefix)) continue
    const pid = Number(name.slice(stagingPrefix.length))
    if (pid === process.pid || !isAlive(pid)) await rm(path.join(dataDir, name), { recursive: true, force: true })
  }
}

/** UTF-8 with an order that no update of the machine's locales can change under an index. */
const initdbFlags = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
]

const randomSecret = () => randomBytes(32).toString('base64url')

function explain(error: unknown): never {
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  throw new Error(`The embedded PostgreSQL could not be initialised: ${output || String(error)}`, { cause: error })
}
