import { isRepository } from '../oci/documents.ts'

/** A place in a registry: the value of `--to`. */
export interface RegistryTarget {
  /** `https://registry.example:5000` */
  readonly origin: string
  /** As references to images have it: `registry.example:5000`. */
  readonly host: string
  readonly hostname: string
  /** The prefix of each repository's name: empty, or such as `mirror/ai`. */
  readonly prefix: string
}

/** Reads `[http://|https://]host[:port][/prefix]`, HTTPS by default; null for any other text. */
export function parseTarget(text: string): RegistryTarget | null {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `https://${text}`)
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return null
  const prefix = url.pathname.replace(/^\/|\/$/g, '')
  if (prefix !== '' && !isRepository(prefix)) return null
  return { origin: url.origin, host: url.host, hostname: url.hostname, prefix }
}

/** The repository of a registry for something that a bundle calls `name`. */
export const repositoryOf = ({ prefix }: RegistryTarget, name: string): string => (prefix === '' ? name : `${prefix}/${name}`)
