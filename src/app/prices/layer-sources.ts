import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Egress } from '../../gateway/ports/egress.ts'
import type { LogStore } from '../log-store/log-store.ts'
import type { LayerSource } from './layer.ts'
import { longestList } from './read-list.ts'
import { withoutEnd } from '../../lib/text/without-end.ts'

/** Names of providers that can be names of files and parts of a URL. */
const plainName = /^[a-z\d][a-z\d._-]{0,63}$/

/** Lists in a folder, `{provider}.json` each. */
export const folderSource = (name: string, folder: string): LayerSource => ({
  name,
  read: async (provider) => (plainName.test(provider) ? inTurn(() => readList(path.join(folder, `${provider}.json`))) : null),
})

async function readList(file: string): Promise<Buffer | null> {
  try {
    if ((await stat(file)).size > longestList) throw new Error(`the list has more than ${longestList} bytes`)
    return await readFile(file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

let last: Promise<unknown> = Promise.resolve()

/** A share whose server is gone holds a thread for each file that is read. Node has four of them for all files and names, so lists get one. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = last.then(work)
  last = turn.catch(() => undefined)
  return turn
}

/** Lists in the log store, below a path of its own. */
export const logStoreSource = (store: Pick<LogStore, 'get'>, folder: string): LayerSource => ({
  name: 'log_store',
  async read(provider) {
    if (!plainName.test(provider)) return null
    const found = await store.get(`${folder.replace(/^\/+|\/+$/g, '')}/${provider}.json`)
    if (found !== null && found.length > longestList) throw new Error(`the list has more than ${longestList} bytes`)
    return found === null ? null : Buffer.from(found)
  },
})

const timeoutMs = 10_000

/** The two kinds of lists: prices, and abilities of models. */
export type ListKind = 'pricing' | 'general'

/** Lists of a service: `{url}/pricing/{provider}` or `{url}/general/{provider}`, or the same with `.json` at its end. */
export const proxySource = (url: string, kind: ListKind, egress: Egress): LayerSource => ({
  name: 'proxy',
  async read(provider) {
    if (!plainName.test(provider)) return null
    for (const end of ['', '.json']) {
      const { status, text } = await egress.exchange({
        url: `${withoutEnd(url, '/')}/${kind}/${provider}${end}`,
        method: 'GET',
        headers: { accept: 'application/json' },
        timeoutMs,
        maxBytes: longestList,
        named: 'by catalogue',
      })
      if (status === 200) return Buffer.from(text)
      if (status !== 404) throw new Error(`the service answered ${status}`)
    }
    return null
  },
})
