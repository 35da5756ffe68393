import type { ApiError } from '../../lib/errors.ts'
import { escapeHtml } from '../../lib/text/escape-html.ts'
import type { Context } from './context.ts'
import { html, pageHeaders, pageOf } from './page.ts'

/**
 * Answers an error with a page if a person's browser was sent here, and asks for a page sooner than for JSON, or asked for a path that does not
 * exist. Returns false: it does not.
 */
export function answeredAsPage(ctx: Context, error: ApiError): boolean {
  const isLost = error.code === 'not_found' && ctx.method === 'GET'
  if (ctx.state.sendsBrowsers !== true && !isLost) return false
  ctx.vary('accept')
  if (ctx.accepts('json', 'html') !== 'html') return false
  ctx.set(pageHeaders())
  ctx.set('cache-control', 'no-store')
  ctx.type = html
  ctx.body = isLost ? lostPage(error) : htmlOf(error, ctx.state.requestId)
  return true
}

/** The page for a path that Gatehouse does not serve. */
const lostPage = ({ message }: ApiError): string =>
  pageOf({
    title: 'Not found',
    script: null,
    main: `<h1>There is no such page</h1>
      <p role="alert">${escapeHtml(message)}</p>
      <p><a href="/">Start page</a>, <a href="/docs">the API</a>, <a href="/console">console</a></p>`,
  })

/** A message may quote a provider. */
const htmlOf = ({ message, code }: ApiError, requestId: string): string =>
  pageOf({
    title: 'Not signed in',
    script: null,
    main: `<h1>You are not signed in</h1>
      <p role="alert">${escapeHtml(message)}</p>
      <p><a href="/console/sign-in">Sign in again</a></p>
      <p>For your administrator: ${escapeHtml(code)}, request ${escapeHtml(requestId)}.</p>`,
  })
