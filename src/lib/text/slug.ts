import { randomInt } from 'node:crypto'
import { z } from 'zod'
import { since } from '../../release/since.ts'
import { isUuid } from '../is-uuid.ts'

const maxLength = 255
const suffixLength = 6
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** The form of a slug or UUID in a path. No other text can name a resource. */
export const slugPattern = /^[a-zA-Z0-9_-]+$/

const slugUpTo = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(slugPattern, 'Only letters, digits, _ and - are allowed.')
    .refine((slug) => !isUuid(slug), 'A slug must not look like a UUID.')

const nameUpTo = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    // oxlint-disable-next-line no-control-regex -- the pattern refuses control characters
    .regex(/^[^\u0000-\u001F\u007F-\u009F\uD800-\uDFFF]*$/u, 'Control characters are not allowed.')

/** A slug as a caller may choose it. */
export const slugField = slugUpTo(maxLength)

/** A name as a caller may choose it: some text on one line. */
export const nameField = nameUpTo(maxLength)

/** The longest text that an index accepts. */
const formerLength = 1000

/** The slug of an integration or a provider. */
export const accountSlug = since('1.3.2', slugField, slugUpTo(formerLength))

/** The name of an integration or a provider. */
export const accountName = since('1.3.2', nameField, nameUpTo(formerLength))

/** A slug from a name: `My Ünïque key!` gives `my-unique-key`; a name without a single letter or digit gives the fallback. */
export function toSlug(name: string, fallback: string): string {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, maxLength)
  return slug === '' ? fallback : slug
}

/** A slug that is most likely free, with the prefix of its kind: `pc-my-config-x1y2z3`. */
export const madeSlug = (prefix: string, name: string): string => suffixedSlug(`${prefix}-${toSlug(name, 'unnamed')}`)

/** The slug itself when it is free, else the slug with a short random suffix. */
export async function freeSlug(slug: string, isTaken: (candidate: string) => Promise<boolean>): Promise<string> {
  let candidate = slug
  while (await isTaken(candidate)) candidate = suffixedSlug(slug)
  return candidate
}

/** A slug with a short random suffix. */
export function suffixedSlug(slug: string): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${slug.slice(0, maxLength - suffixLength - 1)}-${suffix}`
}
