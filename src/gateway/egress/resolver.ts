import type { ResolveName } from './names.ts'

/** Names to addresses, with a short memory. */
export interface Resolver {
  /** All addresses of the name, in the order to try; rejects when there is none or it takes too long. */
  resolve(hostname: string): Promise<readonly string[]>
  /** Forgets the answer, because a connection to it failed. */
  forget(hostname: string): void
}

export interface ResolverOptions {
  readonly resolve: ResolveName
  /** Longest that an answer is believed; its TTL when that is shorter. */
  readonly maxAgeMs: number
  readonly timeoutMs: number
}

const maxNames = 1000
/** A name that is not there is asked again after this long, and not with every request. */
const failureAgeMs = 1000

interface Answer {
  readonly addresses: Promise<readonly string[]>
  expiresAt: number
}

/** Caches answers, failures for a second, and lets all concurrent queries for the same name wait for the same answer. */
export function createResolver(options: ResolverOptions): Resolver {
  const answers = new Map<string, Answer>()

  function ask(hostname: string): Answer {
    const answer: Answer = { addresses: withDeadline(query(), options.timeoutMs, hostname), expiresAt: Infinity }
    answer.addresses.catch(() => {
      answer.expiresAt = performance.now() + Math.min(failureAgeMs, options.maxAgeMs)
    })
    return answer

    async function query(): Promise<readonly string[]> {
      const found = await options.resolve(hostname)
      if (found.length === 0) throw Object.assign(new Error(`no address for ${hostname}`), { code: 'ENODATA' })
      const ttlMs = Math.max(1, Math.min(...found.map(({ ttl }) => ttl ?? Infinity))) * 1000
      answer.expiresAt = performance.now() + Math.min(ttlMs, options.maxAgeMs)
      return found.map(({ address }) => address)
    }
  }

  return {
    resolve(hostname) {
      const known = answers.get(hostname)
      if (known !== undefined && known.expiresAt > performance.now()) return known.addresses
      const answer = ask(hostname)
      answers.delete(hostname)
      answers.set(hostname, answer)
      if (answers.size > maxNames) dropOldest(answers)
      return answer.addresses
    },
    forget: (hostname) => void answers.delete(hostname),
  }
}

function withDeadline<T>(work: Promise<T>, timeoutMs: number, hostname: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(Object.assign(new Error(`no answer for ${hostname}`), { code: 'ETIMEOUT' })), timeoutMs)
    void work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function dropOldest(answers: Map<string, unknown>): void {
  const [oldest] = answers.keys()
  if (oldest !== undefined) answers.delete(oldest)
}
