import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { makeFolder } from '../../lib/make-folder.ts'

/** After this long without a sign of life, a writer on another machine (or in another container) counts as dead. */
export const staleAfterMs = 30_000

/** Names the process table that pids refer to: the boot of the machine and, in a container, its pid namespace. */
const machine = [
  os.hostname(),
  attempt(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  attempt(() => fs.readlinkSync('/proc/self/ns/pid')),
].join(' ')

/** The process that may write, or ship, a directory. */
interface Owner {
  /** `writer` appends; `shipper` only ships existing frames. */
  readonly role: 'writer' | 'shipper'
  /** The token of the directory's writer, which shows that it is still the one. */
  readonly token: string
  readonly machine: string
  readonly pid: number
  readonly started: string
}

export interface Claim {
  readonly directory: string
  readonly token: string
}

/** A fresh directory below `root` that this process alone writes. It appears with its lock in it, so no one can take it for an orphan. */
export function createWriterDirectory(root: string): Claim {
  const token = randomUUID()
  const directory = path.join(root, token)
  const unseen = path.join(root, `.${token}`)
  makeFolder(unseen, { mode: 0o700 })
  fs.writeFileSync(path.join(unseen, 'lock'), JSON.stringify(owner('writer', token)), { mode: 0o600 })
  fs.renameSync(unseen, directory)
  return { directory, token }
}

/** A sign of life, for processes that cannot see our pid. Throws when the directory is no longer ours. */
export function renew({ directory, token }: Claim, now: number): void {
  if (readOwner(directory)?.token !== token) throw new Error(`another process took ${directory} over`)
  fs.utimesSync(path.join(directory, 'lock'), now / 1000, now / 1000)
}

/** Ends writing: any shipper may take the directory. */
export function release({ directory, token }: Claim): void {
  if (readOwner(directory)?.token === token) fs.rmSync(path.join(directory, 'lock'), { force: true })
}

/** The right of a process to a directory: `writing` its own journal is open in it, `adopted` all is there, `foreign` another's. */
export type JournalOwnership = 'writing' | 'adopted' | 'foreign'

/** Looks whose a directory is, and takes it over when its owner is dead. */
export function claim(directory: string, now: number): JournalOwnership {
  const current = readOwner(directory)
  if (current !== null) {
    if (isSelf(current)) return current.role === 'writer' ? 'writing' : 'adopted'
    if (isAlive(current, directory, now)) return 'foreign'
  }
  const lock = path.join(directory, 'lock')
  const mine = `${lock}.${process.pid}`
  fs.writeFileSync(mine, JSON.stringify(owner('shipper', randomUUID())), { mode: 0o600 })
  fs.renameSync(mine, lock)
  return 'adopted'
}

/** The directories below `root`, each of one writer. */
export function listDirectories(root: string): string[] {
  try {
    return fs
      .readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => path.join(root, entry.name))
  } catch {
    return []
  }
}

function owner(role: Owner['role'], token: string): Owner {
  return { role, token, machine, pid: process.pid, started: startOf(process.pid) ?? '' }
}

const isSelf = (other: Owner) => other.pid === process.pid && other.machine === machine && other.started === (startOf(process.pid) ?? '')

/** On our machine the process table decides; elsewhere the age of the last sign of life. */
function isAlive(other: Owner, directory: string, now: number): boolean {
  if (other.machine === machine) return exists(other.pid) && (startOf(other.pid) ?? '') === other.started
  const renewedAt = statOf(path.join(directory, 'lock'))?.mtimeMs
  return renewedAt !== undefined && now - renewedAt < staleAfterMs
}

function readOwner(directory: string): Owner | null {
  try {
    const parsed: Owner = JSON.parse(fs.readFileSync(path.join(directory, 'lock'), 'utf8'))
    return parsed
  } catch {
    return null
  }
}

/** When a process began, in clock ticks since boot, so that a reused pid is not taken for the old one; null where there is no /proc. */
function startOf(pid: number): string | null {
  const stat = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))
  // The name in parentheses may hold spaces; the start time is the 20th field after it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const statOf = (file: string) => fs.statSync(file, { throwIfNoEntry: false })

function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
