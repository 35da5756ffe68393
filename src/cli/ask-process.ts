import { reachable } from '../app/own-origin.ts'
import type { Config } from '../config/index.ts'
import { createEgress } from '../gateway/ports/egress-making.ts'
import { UsageError } from './failure.ts'

/** The answer of a running process; null: it did not answer. */
export interface ProcessAnswer {
  readonly status: number
  readonly text: string
}

/** Requests to a running process for its public facts, without a key; each is retried once if no answer comes. */
export interface ProcessQuestions {
  readonly url: string
  ask(path: string): Promise<ProcessAnswer | null>
  close(): Promise<void>
}

const timeoutMs = 5000

/**
 * Returns the address at which this machine reaches the process with these settings; null when it takes any free port. A certificate is seldom made
 * for the local address of a machine: over HTTPS the public address is used.
 */
export function ownUrl({ host, port, tls, managementPort, publicUrl }: ListenAddress): string | null {
  const open = managementPort ?? port
  if (open === 0) return null
  if (managementPort === null && tls !== null) return publicUrl ?? `https://${reachable(host)}:${port}`
  return `http://${reachable(host)}:${open}`
}

type ListenAddress = Pick<Config, 'host' | 'port' | 'tls' | 'managementPort' | 'publicUrl'>

/** Opens a way to the process at this address, which is trusted because the operator named it. Throws UsageError when it is none. */
export function openProcess(url: string): ProcessQuestions {
  // This machine, or one beside it: no proxy of the way out.
  const egress = createEgress({ trustedHosts: [hostOf(url)], connectTimeoutMs: timeoutMs })
  const ask = async (path: string): Promise<ProcessAnswer | null> => {
    try {
      const { status, text } = await egress.exchange({ url: `${url}${path}`, method: 'GET', headers: {}, timeoutMs })
      return { status, text }
    } catch {
      return null
    }
  }
  return {
    url,
    ask: async (path) => (await ask(path)) ?? ask(path),
    close: () => egress.close(),
  }
}

function hostOf(url: string): string {
  const parsed = URL.parse(url)
  if (parsed !== null && (parsed.protocol === 'http:' || parsed.protocol === 'https:')) return parsed.host
  throw new UsageError(`${url} is no address of a process: write it as http://127.0.0.1:8787`)
}
