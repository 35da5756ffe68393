import { once } from 'node:events'
import { createServer } from 'node:net'

/** A free port on 127.0.0.1: the preferred one when nobody has it, else any. */
export async function freePort(preferred = 0): Promise<number> {
  const server = createServer()
  try {
    server.listen(preferred, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric address')
    return address.port
  } catch (error) {
    if (preferred === 0) throw error
    return freePort()
  } finally {
    server.close()
  }
}
