import { publicUrl } from '../oidc/browser.ts'
import { send, type RawAnswer } from '../http.ts'

/** A browser between the product and a provider of SAML. */
export interface SamlBrowser {
  /** The cookies of the product: name=value. */
  readonly cookies: ReadonlyMap<string, string>
  /** Begins to sign in; returns the URL of the provider with the request. */
  leave(path: string): Promise<URL>
  /** Sends the form of the provider to the product, as a page of another site does: only cookies with `SameSite=None` come along. */
  post(path: string, form: Readonly<Record<string, string>>): Promise<RawAnswer>
  get(path: string): Promise<RawAnswer>
}

interface Cookie {
  readonly value: string
  readonly crossesSites: boolean
}

export function openSamlBrowser(origin: string): SamlBrowser {
  const jar = new Map<string, Cookie>()

  function keep({ headers }: RawAnswer): void {
    for (const text of headers['set-cookie'] ?? []) {
      const [pair = ''] = text.split(';', 1)
      const at = pair.indexOf('=')
      if (/max-age=0/i.test(text)) jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), { value: pair.slice(at + 1), crossesSites: /SameSite=None; Secure/.test(text) })
    }
  }

  const cookieHeader = (isSent: (cookie: Cookie) => boolean): Record<string, string> => {
    const pairs = [...jar].filter(([, cookie]) => isSent(cookie)).map(([name, { value }]) => `${name}=${value}`)
    return pairs.length === 0 ? {} : { cookie: pairs.join('; ') }
  }

  async function get(path: string): Promise<RawAnswer> {
    const answer = await send(`${origin}${path}`, { headers: { ...cookieHeader(() => true), 'sec-fetch-site': 'same-origin' } })
    keep(answer)
    return answer
  }

  return {
    get cookies() {
      return new Map([...jar].map(([name, { value }]) => [name, value]))
    },
    get,
    async leave(path) {
      const { status, headers, text } = await get(path)
      if (headers.location === undefined) throw new Error(`${path} answered ${status}: ${text.slice(0, 500)}`)
      return new URL(headers.location, publicUrl)
    },
    async post(path, form) {
      const answer = await send(`${origin}${path}`, {
        method: 'POST',
        headers: {
          ...cookieHeader(({ crossesSites }) => crossesSites),
          'content-type': 'application/x-www-form-urlencoded',
          origin: 'https://idp.example',
          'sec-fetch-site': 'cross-site',
        },
        body: new URLSearchParams(form).toString(),
      })
      keep(answer)
      return answer
    },
  }
}
