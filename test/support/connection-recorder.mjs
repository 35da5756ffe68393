// Loaded before a program (`--import`): writes a line for every connection that it tries to open and every name that it asks for to the
// file that CONNECTIONS names, whether or not anything comes of it.
import { appendFileSync } from 'node:fs'
import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'

const { CONNECTIONS: file = '' } = process.env
const record = (kind, what) => appendFileSync(file, `${kind} ${what}\n`)

const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function recorded(...given) {
  // What Node has put in order is a list that begins with the options.
  const [first, second] = Array.isArray(given[0]) ? given[0] : given
  const {
    host = 'localhost',
    port,
    path,
  } = typeof first === 'object' ? first : { port: first, host: typeof second === 'string' ? second : undefined }
  if (path === undefined || path === null) record('connect', `${host}:${port}`)
  return connect.apply(this, given)
}

for (const from of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveAny', 'resolveSrv', 'resolveTxt']) {
    const original = from[name]
    if (typeof original !== 'function') continue
    from[name] = function recorded(hostname, ...rest) {
      if (!net.isIP(hostname)) record('resolve', hostname)
      return original.call(this, hostname, ...rest)
    }
  }

const { send } = dgram.Socket.prototype
dgram.Socket.prototype.send = function recorded(...given) {
  record(
    'datagram',
    given
      .filter((part) => typeof part !== 'function')
      .slice(1)
      .join(':'),
  )
  return send.apply(this, given)
}
