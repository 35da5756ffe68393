import { z } from 'zod'

const name = String.raw`[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?`
const address = String.raw`\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]{2,45}\]`
const entry = new RegExp(String.raw`^(?:stored|(?:(?:\*\.)?${name}(?:\.${name})*|(?:${address})(?:/\d{1,3})?)(?::[1-9]\d{0,4})?)$`)

/** The hosts to which an organisation lets requests go: the field `settings.allowed_custom_hosts`. */
export const allowedHostsField = z
  .array(
    z.string().min(1).max(260).regex(entry, 'Give a host, a *.suffix, an address or a CIDR, with or without a :port, or the word stored.'),
  )
  .max(200)
  .nullable()
  .optional()
  .meta({
    description:
      'The hosts that requests of the organisation may name beside the providers of the catalogue (custom hosts, webhooks): hosts, `*.suffix`, addresses, CIDRs, each with or without `:port`; `stored` stands for every host that is stored with an integration, config or guardrail. It narrows what ALLOWED_CUSTOM_HOSTS allows, and never widens it. Null: no bound of its own; an empty list: none.',
  })

/** Returns the hosts that an organisation's stored settings allow; null if they set no limit. */
export function allowedHosts(settings: unknown): readonly string[] | null {
  const found: unknown = typeof settings === 'object' && settings !== null ? Reflect.get(settings, 'allowed_custom_hosts') : undefined
  return Array.isArray(found) ? found.filter((text) => typeof text === 'string') : null
}
