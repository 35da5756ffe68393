import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  opendirSync,
  rmSync,
  writeSync,
  type Stats,
} from 'node:fs'
import path from 'node:path'
import { codeOf } from '../../../app/database/connection-error.ts'
import { fail, ok, type Check, type Verdict } from '../check.ts'
import { nearest } from './disk.ts'

interface User {
  readonly uid: number
  readonly gid: number
}

const mostEntries = 20_000

/** Checks that the user of Gatehouse may write the files of an earlier one: since 1.4.0 the container does not run as root. */
export const volumesCheck: Check = {
  id: 'volumes-writable',
  about:
    'The user that runs Gatehouse may write everything in `DATA_DIR`. Since 1.4.0 the container does not run as root: files that root wrote before must be given to it.',
  remedy:
    'Set `fsGroup` in the pod, or run once as root: `chgrp -R 0 DATA_DIR && chmod -R g=u DATA_DIR`; the folder `postgres` of an embedded database belongs to the user itself: `chown -R 10001 DATA_DIR/postgres`. Before the upgrade, `--as 10001:0` asks for the user of the image.',
  quick: false,
  run(stage) {
    const { dataDir } = stage.settings()
    const user = stage.circumstances.runAs
    const folder = nearest(dataDir)
    if (!existsSync(dataDir))
      return mayWrite(folder, lstatSync(folder), user) ? ok(`${dataDir} can be made`) : refused(folder, [folder], user)
    const locked = findLocked(dataDir, user)
    if (locked.length > 0) return refused(dataDir, locked, user)
    return (user === null ? tryToWrite(dataDir) : null) ?? ok(`${dataDir} and what is in it can be written by ${nameOf(user)}`)
  },
}

const ownUser = (): User => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 })

function nameOf(user: User | null): string {
  const { uid, gid } = user ?? ownUser()
  return `uid ${uid}, gid ${gid}`
}

function refused(folder: string, locked: readonly string[], user: User | null): Verdict {
  const named = `${locked.slice(0, 3).join(', ')}${locked.length > 3 ? ` and ${locked.length - 3} more` : ''}`
  const { uid } = user ?? ownUser()
  const postgres = locked.some((entry) => entry.startsWith(path.join(folder, 'postgres'))) ? ` && chown -R ${uid} ${folder}/postgres` : ''
  return fail(
    `${nameOf(user)} cannot write ${named}`,
    `Set fsGroup in the pod, or run once as root: chgrp -R 0 ${folder} && chmod -R g=u ${folder}${postgres}`,
  )
}

/** Returns the files below a folder that the user cannot write. For an embedded database only the owner counts: PostgreSQL insists on it. */
function findLocked(folder: string, user: User | null): readonly string[] {
  const locked: string[] = []
  const waiting = [folder]
  for (let seen = 0; waiting.length > 0 && seen < mostEntries; seen += 1) {
    const entry = waiting.pop() ?? folder
    const stats = lstatSync(entry, { throwIfNoEntry: false })
    if (stats === undefined || stats.isSymbolicLink()) continue
    const ownCluster = entry === path.join(folder, 'postgres', 'data')
    if (ownCluster ? !mayRunCluster(stats, user) : !mayWrite(entry, stats, user)) locked.push(entry)
    else if (stats.isDirectory() && !ownCluster) waiting.push(...entriesOf(entry))
  }
  return locked
}

/** Root runs PostgreSQL as another account. */
function mayRunCluster({ uid }: Stats, user: User | null): boolean {
  const runner = (user ?? ownUser()).uid
  return runner === 0 || uid === runner
}

/** For this process the system's own answer is best, with its groups and capabilities; for another user the mode bits decide. */
function mayWrite(entry: string, stats: Stats, user: User | null): boolean {
  if (user !== null) return user.uid === 0 || hasBits(stats, user)
  try {
    accessSync(entry, constants.W_OK | (stats.isDirectory() ? constants.X_OK | constants.R_OK : 0))
    return true
  } catch {
    return false
  }
}

function hasBits(stats: Stats, { uid, gid }: User): boolean {
  const needed = stats.isDirectory() ? 7 : 6
  const shift = stats.uid === uid ? 6 : stats.gid === gid ? 3 : 0
  return ((stats.mode >> shift) & needed) === needed
}

function entriesOf(folder: string): readonly string[] {
  const entries: string[] = []
  const listing = opendirSync(folder)
  try {
    for (let entry = listing.readSync(); entry !== null && entries.length < mostEntries; entry = listing.readSync())
      entries.push(path.join(folder, entry.name))
  } finally {
    listing.closeSync()
  }
  return entries
}

/** A read-only file system and a quota show only on a write. */
function tryToWrite(folder: string): Verdict | null {
  const file = path.join(folder, `.preflight-${randomBytes(6).toString('hex')}`)
  try {
    const descriptor = openSync(file, 'wx', 0o600)
    writeSync(descriptor, 'gatehouse preflight\n')
    fsyncSync(descriptor)
    closeSync(descriptor)
    return null
  } catch (error) {
    return fail(`a file cannot be written in ${folder} (${codeOf(error)})`, 'Mount the volume of DATA_DIR writable, and make room on it.')
  } finally {
    rmSync(file, { force: true })
  }
}
