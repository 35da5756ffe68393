import { z } from 'zod'
import { DistributionFault } from '../fault.ts'
import type { WireAnswer, WireRequest } from './wire.ts'

/** The login at a registry. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

type Send = (request: WireRequest) => Promise<WireAnswer>

const Token = z.object({ token: z.string().optional(), access_token: z.string().optional() })

/** The demand of a registry that answers 401. */
interface Challenge {
  readonly scheme: string
  readonly fields: Readonly<Record<string, string | undefined>>
}

const basic = ({ username, password }: Credentials) => `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** The caller for whom a challenge is to be satisfied. */
export interface Caller {
  readonly repository: string
  /** The registry's own host: credentials go nowhere else. */
  readonly hostname: string
  readonly credentials: Credentials | null
}

const refuse = (message: string) => new DistributionFault('registry_refused', message)

/** The header that satisfies a registry's challenge: Basic, or a token of its token service. Throws DistributionFault `registry_refused`. */
export async function authorise(challenge: string, caller: Caller, send: Send): Promise<string> {
  const { scheme, fields } = parseChallenge(challenge)
  const { hostname, credentials } = caller
  if (scheme === 'bearer') return `Bearer ${await fetchToken(fields, caller, send)}`
  if (scheme !== 'basic') throw refuse(`${hostname} asks for "${challenge}", which is not known here`)
  if (credentials === null) throw refuse(`${hostname} wants to know who asks: give --username and --password-file`)
  return basic(credentials)
}

async function fetchToken(fields: Challenge['fields'], { repository, hostname, credentials }: Caller, send: Send): Promise<string> {
  const service = URL.parse(fields['realm'] ?? '')
  if (service?.hostname !== hostname)
    throw refuse(`${hostname} gives its tokens at ${service?.host ?? 'no address'}, another host, which gets no credentials from here`)
  service.searchParams.set('scope', `repository:${repository}:pull,push`)
  if (fields['service'] !== undefined) service.searchParams.set('service', fields['service'])
  const headers = credentials === null ? {} : { authorization: basic(credentials) }
  const { status, text } = await send({ method: 'GET', url: service.href, headers })
  const token = status === 200 ? readToken(text) : null
  if (token === null) throw refuse(`${service.host} gave no token for ${repository}: it answers ${status}`)
  return token
}

function readToken(text: string): string | null {
  try {
    const { token, access_token: other } = Token.parse(JSON.parse(text))
    return token ?? other ?? null
  } catch {
    return null
  }
}

function parseChallenge(text: string): Challenge {
  const [scheme = ''] = text.split(' ', 1)
  const fields = Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name.toLowerCase(), value]))
  return { scheme: scheme.toLowerCase(), fields }
}
