import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

/** The system account that PostgreSQL's programs run as. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** A program, as it must be spawned. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly options: { readonly uid?: number; readonly gid?: number }
}

/** PostgreSQL refuses to run as root, so root picks another account; every other account runs it itself (null). */
export function chooseAccount(dataFolder: string): Account | null {
  const self = process.getuid?.()
  if (self === undefined) return null
  const owner = existsSync(dataFolder) ? statSync(dataFolder) : null
  if (self !== 0) {
    if (owner && owner.uid !== self) throw new Error(foreign(dataFolder, owner.uid))
    return null
  }
  // Data that exists belongs to the account that made it, even when a better candidate appeared since.
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  return known('postgres') ?? known('nobody') ?? createAccount()
}

const foreign = (folder: string, uid: number) =>
  `${folder} belongs to another user (uid ${uid}). Start as that user, choose another DATA_DIR, or set DB_HOST.`

function known(name: string): Account | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':').map(Number) ?? []
  return uid !== undefined && gid !== undefined && uid > 0 ? { uid, gid } : null
}

/** `initdb` wants its account to have a name, so a bare number does not do. */
function createAccount(): Account {
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'], { stdio: 'pipe' })
  } catch {
    // The message below names the remedy for every cause.
  }
  const made = known('postgres')
  if (made) return made
  throw new Error(
    'The embedded PostgreSQL does not run as root, and this system has no "postgres" or "nobody" account to run it as. Start Gatehouse as an ordinary user, add such an account, or set DB_HOST.',
  )
}

/** How to run a program as the account, given the folders that it must reach. */
export function runAs(account: Account | null, command: { file: string; args: readonly string[] }, folders: readonly string[]): Command {
  if (!account) return { ...command, options: {} }
  const closed = folders.map((folder) => closedParent(folder, account)).find((found) => found !== null)
  if (!closed) return { ...command, options: account }
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((file) => existsSync(file))
  if (!setpriv) throw new Error(unreachable(closed, account))
  return { file: setpriv, args: [...keepingAccess(account), command.file, ...command.args], options: {} }
}

const unreachable = (folder: string, account: Account) =>
  `The embedded PostgreSQL runs as uid ${account.uid}, because it refuses root, and that user cannot enter ${folder}. Run "chmod o+x ${folder}", choose a DATA_DIR that it can reach, or set DB_HOST.`

/** The one power of root that is needed below a closed folder, such as a clone in /root; the securebit keeps `access(2)` from ignoring it. */
const keepingAccess = (account: Account): readonly string[] => [
  `--reuid=${account.uid}`,
  `--regid=${account.gid}`,
  '--clear-groups',
  '--securebits=+no_setuid_fixup',
  '--inh-caps=-all,+dac_override',
  '--ambient-caps=+dac_override',
  '--bounding-set=-all,+dac_override',
]

function closedParent(folder: string, account: Account): string | null {
  const parents = ancestors(path.resolve(folder))
  return parents.find((parent) => !enterable(parent, account)) ?? null
}

const ancestors = (folder: string): readonly string[] =>
  path.dirname(folder) === folder ? [folder] : [...ancestors(path.dirname(folder)), folder]

function enterable(folder: string, { uid, gid }: Account): boolean {
  const status = statSync(folder)
  if (status.uid === uid) return (status.mode & 0o100) !== 0
  if (status.gid === gid) return (status.mode & 0o010) !== 0
  return (status.mode & 0o001) !== 0
}
