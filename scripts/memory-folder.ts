import { readFileSync } from 'node:fs'
import { access, constants, mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** The file system in memory that most Linux machines have. */
const inMemory = '/dev/shm'
/** The databases and folders of a run of all tests take less. */
const leastFree = 6 * 1024 ** 3

/**
 * Makes a folder for the data of one run: in memory, where files cost an eighth of the processor time, if there is room and programs may run there;
 * else in the usual place.
 */
export async function makeRunFolder(prefix: string): Promise<string> {
  return mkdtemp(path.join((await isUsable()) ? inMemory : tmpdir(), prefix))
}

async function isUsable(): Promise<boolean> {
  try {
    await access(inMemory, constants.W_OK)
    const { bavail, bsize } = await statfs(inMemory)
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === inMemory)
    return bavail * bsize >= leastFree && mount !== undefined && !/\bnoexec\b/.test(mount)
  } catch {
    return false
  }
}
