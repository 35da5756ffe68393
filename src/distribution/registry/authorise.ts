import { z } from 'zod'
import { DistributionFault } from '../fault.ts'
import type { WireAnswer, WireRequest } from './wire.ts'

/** Who we are at a registry. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

type Send = (request: WireRequest) => Promise<WireAnswer>

const Token = z.object({ token: z.string().optional(), access_token: z.string().optional() })

/** What a registry asks for when it answers 401. */
interface Challenge {
  readonly scheme: string
  readonly fields: Readonly<Record<string, string | undefined>>
}

const basic = ({ username, password }: Credentials) => `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/**
 * The header that satisfies the challenge of a registry for one repository: Basic, or a token of its token service. Credentials go to
 * the registry's own host alone. Throws DistributionFault `registry_refused`.
 */
export async function authorise(
  challenge: string,
  { repository, hostname, credentials }: { repository: string; hostname: string; credentials: Credentials | null },
  send: Send,
): Promise<string> {
  const { scheme, fields } = parseChallenge(challenge)
  if (scheme === 'basic') {
    if (credentials === null) throw new DistributionFault('registry_refused', `${hostname} wants to know who asks: give --username and --password-file`)
    return basic(credentials)
  }
  const service = URL.parse(fields['realm'] ?? '')
  if (scheme !== 'bearer' || service === null) throw new DistributionFault('registry_refused', `${hostname} asks for "${challenge}", which is not known here`)
  if (service.hostname !== hostname)
    throw new DistributionFault('registry_refused', `${hostname} gives its tokens at ${service.host}, another host, which gets no credentials from here`)
  service.searchParams.set('scope', `repository:${repository}:pull,push`)
  if (fields['service'] !== undefined) service.searchParams.set('service', fields['service'])
  const headers = credentials === null ? {} : { authorization: basic(credentials) }
  const { status, text } = await send({ method: 'GET', url: service.href, headers })
  const token = status === 200 ? Token.safeParse(JSON.parse(text)).data : undefined
  const value = token?.token ?? token?.access_token
  if (value === undefined) throw new DistributionFault('registry_refused', `${service.host} gave no token for ${repository}: ${status}`)
  return `Bearer ${value}`
}

function parseChallenge(text: string): Challenge {
  const [scheme = ''] = text.split(' ', 1)
  const fields = Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name.toLowerCase(), value]))
  return { scheme: scheme.toLowerCase(), fields }
}
