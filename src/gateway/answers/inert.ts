import { headerValue, headerValues, type HeaderList, removeHeader } from '../wire/header-list.ts'

/** Types that a browser shows as a page, and may run script in; an answer without a type counts as one. */
const runs =
  /^(?:$|text\/(?:html|xml|xsl)|image\/svg|application\/(?:xhtml|xml|pdf|mathml|x-shockwave-flash)|multipart\/x-mixed|[^;]*\+xml)/i

const sandbox: HeaderList = ['content-security-policy', "default-src 'none'; sandbox", 'referrer-policy', 'no-referrer']
const nothing: HeaderList = []

/** The destinations in which a browser shows an answer, as `sec-fetch-dest` names them. */
const shown = new Set(['document', 'iframe', 'frame', 'fencedframe', 'object', 'embed'])

interface HeaderReader {
  header(name: string): string | undefined
}

/** Returns true if a browser was led to the data plane and would show the answer. API clients do not announce it. */
const isShown = (exchange: HeaderReader): boolean =>
  exchange.header('sec-fetch-mode') === 'navigate' || shown.has(exchange.header('sec-fetch-dest') ?? '')

/** Browsers take the last of several types that they understand. */
const mayRun = (types: readonly string[]): boolean =>
  types.length === 0 || types.some((line) => line.split(',').some((type) => runs.test(type.trimStart())))

/**
 * Returns the headers, flat, that keep an answer of a provider from acting as a page of this host in the browser of a person that was led to it.
 * API clients ignore them. `theirs`: the provider's headers as they go to the caller; a page that a browser asked for becomes a download.
 */
export function inertHeaders(exchange: HeaderReader, theirs: string[]): HeaderList {
  const isPage = mayRun(headerValues(theirs, 'content-type'))
  if (!isShown(exchange)) return isPage ? sandbox : nothing
  if (!isPage) return sandbox
  removeHeader(theirs, 'content-disposition')
  return [...sandbox, 'content-disposition', 'attachment']
}

const kept: HeaderList = ['cache-control', 'no-store']
const keptWhole: HeaderList = ['cache-control', 'no-store, no-transform']

/** Returns the headers for caches on the way of a provider's answer: it was given for a credential. A provider may still forbid repacking. */
export const privacyOf = (rawHeaders: HeaderList): HeaderList =>
  headerValue(rawHeaders, 'cache-control')?.toLowerCase().includes('no-transform') === true ? keptWhole : kept
