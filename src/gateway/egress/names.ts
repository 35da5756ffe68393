import { readFile } from 'node:fs/promises'
import { Resolver, lookup } from 'node:dns/promises'
import { parseAddress } from './addresses.ts'

/** One address of a name; `ttl` in seconds, when the DNS stated it. */
export interface NameAddress {
  readonly address: string
  readonly ttl?: number
}

/** Every address of a name, IPv4 and IPv6; rejects when there is none. */
export type ResolveName = (hostname: string) => Promise<readonly NameAddress[]>

/**
 * Asks the hosts file, then the DNS by c-ares, then getaddrinfo. c-ares waits on sockets, so a slow name holds up no other; getaddrinfo holds one of
 * the process's four pool threads for as long as it takes, so only names that c-ares cannot find (search domains, mDNS) go there, two at a time.
 */
export function systemNames(): ResolveName {
  const limited = limit(2, 64)
  let resolver = new Resolver(resolverOptions)
  return async (hostname) => {
    const fromFile = (await readHosts()).get(hostname)
    if (fromFile !== undefined) return fromFile
    const answers = await Promise.allSettled([resolver.resolve4(hostname, { ttl: true }), resolver.resolve6(hostname, { ttl: true })])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return found
    // A network that changed leaves a resolver that asks the old servers; a new one reads the system's settings again.
    resolver = new Resolver(resolverOptions)
    return limited(() => lookup(hostname, { all: true, order: 'ipv4first' }))
  }
}

const resolverOptions = { timeout: 1500, tries: 2 }

/** The hosts file by name; empty where there is none. Small, and read only when a new connection asks. */
async function readHosts(): Promise<Map<string, NameAddress[]>> {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '')
  const names = new Map<string, NameAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...hosts] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    if (parseAddress(address) === null) continue
    for (const host of hosts) names.set(host, [...(names.get(host) ?? []), { address }])
  }
  return names
}

/** Runs at most `running` tasks at a time; refuses when `waiting` already wait. */
function limit(running: number, waiting: number) {
  let active = 0
  const queue: (() => void)[] = []
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (active >= running) {
      if (queue.length >= waiting) throw Object.assign(new Error('too many names wait to be resolved'), { code: 'EAI_AGAIN' })
      await new Promise<void>((resolve) => queue.push(resolve))
    }
    active += 1
    try {
      return await task()
    } finally {
      active -= 1
      queue.shift()?.()
    }
  }
}
