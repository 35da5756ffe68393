// The yardstick: the cost of node:http and undici with only a proxy between them. Headers and bodies go through as they come.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

const [, , upstream = ''] = process.argv
const { origin, pathname } = new URL(upstream)
const pool = new Pool(origin, { connections: null, pipelining: 1 })
const dropped = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'])

const server = createServer({ noDelay: true }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { rawHeaders } = request
    const headers: string[] = []
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? ''
      if (!dropped.has(name.toLowerCase())) headers.push(name, rawHeaders[at + 1] ?? '')
    }
    pool.dispatch(
      {
        path: pathname.replace(/\/v1$/, '') + (request.url ?? '/'),
        method: request.method ?? 'GET',
        headers,
        body: chunks.length === 0 ? null : Buffer.concat(chunks),
      },
      {
        onRequestStart(controller) {
          response.once('close', () => response.writableFinished || controller.abort(new Error('the client left')))
        },
        onResponseStart(_, status, received) {
          const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...rest } = received
          response.writeHead(status, rest)
        },
        onResponseData: (_, chunk) => void response.write(chunk),
        onResponseEnd: () => void response.end(),
        onResponseError: () => void response.destroy(),
      },
    )
  })
})
server.listen(0, '127.0.0.1', 1024, () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.once('disconnect', () => process.exit(0))
