import type { Dir, Dirent } from 'node:fs'
import { opendir, rmdir, unlink } from 'node:fs/promises'
import path from 'node:path'
import { isUuid } from '../../lib/is-uuid.ts'
import { timeOfUuid } from '../../lib/uuid.ts'

/** The folders above an object, as `objectKey` names them, outermost first. */
const isLevel: readonly ((name: string) => boolean)[] = [
  (name) => /^\d{1,4}$/.test(name),
  isUuid,
  (name) => name === 'organisation' || isUuid(name),
  (name) => /^\d{4}$/.test(name),
  ...Array.from({ length: 3 }, () => (name: string) => /^\d\d$/.test(name)),
]
/** The folders of a year and of months and days within it: they hold logs of no other time. */
const firstOfTime = 3
/** The numbers of folders above an object: v1, v2. */
const depths: ReadonlySet<number> = new Set([2, isLevel.length])

/**
 * Deletes the objects of logs from before a time, in epoch milliseconds, and remains of cut-off writes; then the folders of their days. All other
 * files stay. Returns how many objects it deleted.
 */
export async function expireFiles(root: string, before: number): Promise<number> {
  const last = new Date(before).toISOString().slice(0, 13).split(/[-T]/)
  let deleted = 0

  const visit = async (folder: string, names: readonly string[]): Promise<void> => {
    for await (const entry of await entriesOf(folder)) {
      const place = path.join(folder, entry.name)
      if (entry.isDirectory()) {
        const inner = [...names, entry.name]
        if (isLevel[names.length]?.(entry.name) !== true || isLater(inner)) continue
        await visit(place, inner)
        if (inner.length > firstOfTime) await rmdir(place).catch(() => {})
      } else if (depths.has(names.length) && isOfBefore(entry, before)) {
        await unlink(place)
        if (entry.name.endsWith('.json')) deleted += 1
      }
    }
  }
  /** True for a year, month, day or hour after that of `before`. */
  const isLater = (names: readonly string[]): boolean => {
    const time = names.slice(firstOfTime)
    return time.join('/') > last.slice(0, time.length).join('/')
  }

  await visit(root, [])
  return deleted
}

function isOfBefore(entry: Dirent, before: number): boolean {
  const [, id = ''] = /^([^.]+)\.json(?:\.[^.]+\.part)?$/.exec(entry.name) ?? []
  const at = timeOfUuid(id)
  return entry.isFile() && at !== null && at < before
}

/** A folder that is gone by now has no entries. */
async function entriesOf(folder: string): Promise<Dir | readonly Dirent[]> {
  try {
    return await opendir(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
