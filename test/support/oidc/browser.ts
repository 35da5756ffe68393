import { send, type RawAnswer } from '../http.ts'

/** The origin by which people reach the product; the browser of the tests has the real address. */
export const publicUrl = 'https://gateway.example'

/** A browser that follows redirects between the product and an issuer, with the cookies of each. */
export interface SsoBrowser {
  /** Begins to sign in, and goes on until the issuer sends it back. Returns the URL to which it is sent back; or the answer of the product that sends it nowhere. */
  leave(path: string): Promise<string>
  /** Goes to a URL of the product. */
  visit(url: string): Promise<RawAnswer>
  /** Signs in. */
  signIn(path: string): Promise<RawAnswer>
  /** The cookies of the product: name=value. */
  readonly cookies: ReadonlyMap<string, string>
}

const mostHops = 10

const isCallback = (url: string): boolean =>
  /^\/auth\/oidc\/(?:[^/]+\/)?callback$/.test(new URL(url).pathname) && new URL(url).origin === publicUrl

/** `ca`: the authority of issuers with TLS, PEM. */
export function openBrowser(origin: string, ca?: string): SsoBrowser {
  const jars = new Map<string, Map<string, string>>()

  async function ask(url: string): Promise<RawAnswer> {
    const { origin: site, pathname, search } = new URL(url)
    const jar = jars.get(site) ?? new Map<string, string>()
    jars.set(site, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const target = site === publicUrl ? `${origin}${pathname}${search}` : url
    const answer = await send(target, { headers: cookie === '' ? {} : { cookie }, ...(ca !== undefined && { ca }) })
    for (const text of answer.headers['set-cookie'] ?? []) {
      const [pair = ''] = text.split(';', 1)
      const at = pair.indexOf('=')
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(text)) jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }

  async function leave(path: string): Promise<string> {
    let url = `${publicUrl}${path}`
    for (let hop = 0; hop < mostHops; hop += 1) {
      const { status, headers, text } = await ask(url)
      if (headers.location === undefined) throw new Error(`${url} answered ${status}: ${text.slice(0, 500)}`)
      url = new URL(headers.location, url).href
      if (isCallback(url)) return url
    }
    throw new Error(`no end of redirects: ${url}`)
  }

  return {
    leave,
    visit: ask,
    signIn: async (path) => ask(await leave(path)),
    get cookies() {
      return jars.get(publicUrl) ?? new Map()
    },
  }
}
