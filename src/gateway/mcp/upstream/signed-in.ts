import { exchangeOnce, type HttpAsk, type HttpDeps, type HttpEars, type HttpEnd } from './post.ts'

/**
 * Sends a request to a server and reads its answer, message by message. Where the gateway signs in by OAuth, a token that the server refuses is renewed
 * once. Rejects with `upstream_*`, `client_closed`, and the faults of a sign-in.
 */
export async function exchangeWith(deps: HttpDeps, ask: HttpAsk, ears: HttpEars): Promise<HttpEnd> {
  const { signIn } = ask.server
  if (signIn === undefined) return exchangeOnce(deps, ask, ears)
  const first = await signIn.authorization(null)
  const end = await exchangeOnce(deps, signed(ask, first), unlessRefused(ears))
  if (end.status !== 401) return end
  const again = await exchangeOnce(deps, signed(ask, await signIn.authorization(first)), unlessRefused(ears))
  if (again.status === 401) throw signIn.refusal()
  return again
}

const signed = (ask: HttpAsk, authorization: string): HttpAsk => ({ ...ask, headers: [...ask.headers, 'authorization', authorization] })

/** A refusal is no answer yet. */
function unlessRefused(ears: HttpEars): HttpEars {
  let isRefused = false
  return {
    ...ears,
    head(status, headers) {
      isRefused = status === 401
      if (!isRefused) ears.head?.(status, headers)
    },
    message(value, event) {
      if (!isRefused) ears.message(value, event)
    },
  }
}
