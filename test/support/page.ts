import { createContext, runInContext } from 'node:vm'
import { send } from './http.ts'

/** A page of the product with its script running, and the little of a browser that such a page uses. */
export interface OpenPage {
  /** The text of an element by its id, or of the form. */
  readonly textOf: (id: string) => string
  readonly isHidden: (id: string) => boolean
  /** The address after the script has read it. */
  readonly address: () => string
  /** Fills the fields of the form, and sends it. Rejects for a field that the form does not have. */
  submit(values: Readonly<Record<string, string>>): Promise<void>
  click(id: string): Promise<void>
  /** name=value; the part that a browser keeps. */
  readonly cookies: Map<string, string>
}

interface Element {
  textContent: string
  hidden: boolean
  href: string
  readonly dataset: Readonly<Record<string, string>>
  readonly listeners: Map<string, (event: { preventDefault(): void }) => unknown>
  addEventListener(name: string, listen: (event: { preventDefault(): void }) => unknown): void
}

function elementOf(tag: string): Element {
  const listeners = new Map<string, (event: { preventDefault(): void }) => unknown>()
  return {
    textContent: '',
    hidden: /\shidden(?=[\s>])/.test(tag),
    href: '',
    dataset: Object.fromEntries([...tag.matchAll(/data-(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value])),
    listeners,
    addEventListener: (name, listen) => void listeners.set(name, listen),
  }
}

/** Opens a page at the origin of the product; the script is done with its first work when this resolves. */
export async function openPage(origin: string, path: string, cookies = new Map<string, string>()): Promise<OpenPage> {
  const [plain = '', hash = ''] = path.split('#', 2)
  const { text: html, status } = await send(`${origin}${plain}`)
  if (status !== 200) throw new Error(`${plain} answered ${status}`)
  const [, scriptPath = ''] = /<script defer src="([^"]+)"/.exec(html) ?? []
  const { text: script } = await send(`${origin}${scriptPath}`)
  const elements = new Map([...html.matchAll(/<\w+ id="(\w+)"[^>]*>/g)].map(([tag, id = '']) => [`#${id}`, elementOf(tag)]))
  elements.set('form', elementOf(/<form [^>]*>/.exec(html)?.[0] ?? ''))
  const names = new Set([...html.matchAll(/<input name="(\w+)"/g)].map(([, name = '']) => name))
  let filled: Readonly<Record<string, string>> = {}
  const pending = new Set<Promise<unknown>>()
  const location = {
    pathname: plain.split('?', 1)[0] ?? '',
    search: plain.slice((plain.split('?', 1)[0] ?? '').length),
    hash: hash && `#${hash}`,
    to: path,
  }
  const kept = new Map<string, string>()
  const context = createContext({
    sessionStorage: {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
      removeItem: (name: string) => void kept.delete(name),
    },
    URLSearchParams,
    Object,
    JSON,
    document: { querySelector: (selector: string) => elements.get(selector) ?? null },
    location: { ...location, assign: (url: string) => void (location.to = url) },
    history: { replaceState: (_: null, __: string, url: string) => void (location.to = url) },
    FormData: class {
      *[Symbol.iterator]() {
        for (const name of names) yield [name, filled[name] ?? '']
      }
    },
    fetch: (url: string, { method, headers, body }: { method: string; headers: Record<string, string>; body?: string }) => {
      const asked = ask(url, { method, headers, ...(body !== undefined && { body }) })
      pending.add(asked)
      return asked
    },
  })

  async function ask(url: string, { method, headers, body }: { method: string; headers: Record<string, string>; body?: string }) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const own = { ...headers, origin, 'sec-fetch-site': 'same-origin', ...(cookie !== '' && { cookie }) }
    const answer = await send(`${origin}${url}`, { method, headers: own, ...(body !== undefined && { body }) })
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';', 1)
      const at = pair.indexOf('=')
      if (/max-age=0/i.test(line)) cookies.delete(pair.slice(0, at))
      else cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return { ok: answer.status < 300, status: answer.status, json: async (): Promise<unknown> => JSON.parse(answer.text) }
  }

  /** Waits until the script sends no more requests. */
  async function settled(): Promise<void> {
    while (pending.size > 0) {
      const [first] = pending
      await first
      if (first !== undefined) pending.delete(first)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function tell(selector: string, event: string): Promise<void> {
    await elements.get(selector)?.listeners.get(event)?.({ preventDefault: () => {} })
    await settled()
  }

  runInContext(script, context)
  await settled()
  const element = (id: string): Element => {
    const found = elements.get(id === 'form' ? id : `#${id}`)
    if (found === undefined) throw new Error(`the page has no ${id}`)
    return found
  }
  return {
    textOf: (id) => element(id).textContent,
    isHidden: (id) => element(id).hidden,
    address: () => location.to,
    async submit(values) {
      const unknown = Object.keys(values).filter((name) => !names.has(name))
      if (unknown.length > 0) throw new Error(`the form has no ${unknown.join(', ')}`)
      filled = values
      await tell('form', 'submit')
    },
    click: (id) => tell(`#${id}`, 'click'),
    cookies,
  }
}
