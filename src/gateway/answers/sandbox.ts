import { headerValue } from '../wire/header-list.ts'

/** Types that a browser shows as a page, and may run script in; an answer without a type counts as one. */
const runs =
  /^(?:$|text\/(?:html|xml|xsl)|image\/svg|application\/(?:xhtml|xml|pdf|mathml|x-shockwave-flash)|multipart\/x-mixed|[^;]*\+xml)/i

const policy: readonly string[] = ['content-security-policy', "default-src 'none'; sandbox"]
const nothing: readonly string[] = []

/**
 * The headers that keep a page of a provider's from acting in our name in the browser of somebody who was led to it, flat. API clients do not look
 * at it, and a provider's own policy stays in force beside it.
 */
export const sandboxOf = (rawHeaders: readonly string[]): readonly string[] =>
  runs.test(headerValue(rawHeaders, 'content-type')?.trimStart() ?? '') ? policy : nothing
