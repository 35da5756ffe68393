import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections: one of those can be taken, by any
 * connection of the machine, between this look and the start of the server that wants it.
 */
const [first, end] = [10_000, 32_000]

/** Finds a free port of 127.0.0.1: the preferred one when it is free, else any. */
export async function freePort(preferred = randomInt(first, end)): Promise<number> {
  const server = createServer().listen(preferred, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (isTaken(error)) return freePort()
    throw error
  }
  server.close()
  await once(server, 'close')
  return preferred
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')
