import { existsSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { fail, ok, warn, type Check } from '../check.ts'

const MiB = 1024 * 1024
const leastBytes = 256 * MiB
const leastFiles = 1000

/** The free space of a folder, as `df` shows it. */
export interface Room {
  readonly folder: string
  readonly freeBytes: number
  /** Null: the file system does not count them. */
  readonly freeFiles: number | null
}

/** Checks that request logs have room while the database is down. */
export const diskCheck: Check = {
  id: 'disk',
  about: 'The disk of `DATA_DIR` has room for the request logs that wait while the database is away (`LOG_SPOOL_MAX_MB`).',
  remedy: 'Enlarge the volume, or lower `LOG_SPOOL_MAX_MB`; beyond it logs are dropped, counted and named, and requests go on.',
  quick: true,
  run(stage) {
    const { dataDir, maxSpoolBytes } = stage.settings()
    return judgeRoom(roomOf(dataDir), maxSpoolBytes)
  },
}

/** The room in a folder, or in the nearest one above that exists. */
export function roomOf(given: string): Room {
  const folder = nearest(given)
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  return { folder, freeBytes: bavail * bsize, freeFiles: files === 0 ? null : ffree }
}

/** The folder itself, or the nearest above it that exists. */
export const nearest = (folder: string): string =>
  existsSync(folder) || path.dirname(folder) === folder ? folder : nearest(path.dirname(folder))

/** The verdict on the room of the data folder. */
export function judgeRoom({ folder, freeBytes, freeFiles }: Room, spoolBytes: number) {
  const free = `${Math.floor(freeBytes / MiB)} MiB are free in ${folder}`
  if (freeBytes < leastBytes) return fail(`only ${free}`, 'Make room, or enlarge the volume of DATA_DIR.')
  if (freeFiles !== null && freeFiles < leastFiles)
    return fail(`only ${freeFiles} more files can be made in ${folder}`, 'Remove files, or make the volume anew with more inodes.')
  if (freeBytes < spoolBytes)
    return warn(
      `${free}, and request logs may take ${Math.ceil(spoolBytes / MiB)} MiB while the database is away`,
      'Enlarge the volume of DATA_DIR, or lower LOG_SPOOL_MAX_MB.',
    )
  return ok(free)
}
