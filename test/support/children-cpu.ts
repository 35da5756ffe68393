import { readFileSync } from 'node:fs'

/** Returns the milliseconds of CPU of ended children. Linux counts them in hundredths of a second, as the 16th and 17th field; elsewhere 0. */
export function cpuOfChildren(): number {
  try {
    const status = readFileSync('/proc/self/stat', 'latin1')
    const [userTicks, systemTicks] = status
      .slice(status.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
    return (Number(userTicks) + Number(systemTicks)) * 10
  } catch {
    return 0
  }
}
