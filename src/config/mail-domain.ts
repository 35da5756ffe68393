import { fault, formed, quoted, type Kind } from './kinds.ts'

export const domainPattern = String.raw`(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]`
export const isDomain = (input: string): boolean => input.length <= 255 && new RegExp(`^${domainPattern}$`).test(input)

/** A domain of e-mail addresses, in lower case. */
export const mailDomain: Kind<string> = {
  name: 'domain',
  schema: formed(domainPattern),
  parse: (input) => (isDomain(input) ? input.toLowerCase() : fault(`${quoted(input)} is no domain, such as example.com`)),
}
