import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { rebindingCases, ssrfCorpus } from './ssrf-corpus.ts'

/**
 * Loaded into a process before its own code (`node --import`): the names of the SSRF corpus resolve to the addresses of the corpus, each answer good
 * for a second, and no other name resolves at all, so that a test reaches no network but the loopback.
 */
const answers = new Map(
  [...ssrfCorpus, ...rebindingCases].flatMap(({ url, answers: list }) =>
    list === undefined ? [] : [[new URL(url).hostname, list] as const],
  ),
)
const asked = new Map<string, number>()

/** The next answer of a name; the last one repeats. */
function next(hostname: string): readonly string[] {
  const list = answers.get(hostname) ?? []
  const count = asked.get(hostname) ?? 0
  asked.set(hostname, count + 1)
  return list[Math.min(count, list.length - 1)] ?? []
}

const notFound = (hostname: string) => Object.assign(new Error(`no such name: ${hostname}`), { code: 'ENOTFOUND' })

/** IPv4 is asked first; the same answer then serves IPv6. */
class CorpusResolver {
  #current: readonly string[] = []

  async resolve4(hostname: string) {
    this.#current = next(hostname)
    return this.#of(hostname, (address) => !address.includes(':'))
  }

  async resolve6(hostname: string) {
    return this.#of(hostname, (address) => address.includes(':'))
  }

  #of(hostname: string, wanted: (address: string) => boolean) {
    const found = this.#current.filter(wanted).map((address) => ({ address, ttl: 1 }))
    if (found.length === 0) throw notFound(hostname)
    return found
  }
}

Object.assign(dns, { Resolver: CorpusResolver, lookup: (hostname: string) => Promise.reject(notFound(hostname)) })
syncBuiltinESMExports()
