import type { ApiError } from '../../lib/errors.ts'
import { escapeHtml } from '../../lib/text/escape-html.ts'
import { pageHeaders } from './people-pages.ts'
import type { Context } from './context.ts'

/** Answers an error to a person whose browser was sent here, where it asks for a page sooner than for JSON. Returns false: it does not. */
export function answeredAsPage(ctx: Context, error: ApiError): boolean {
  if (ctx.state.sendsBrowsers !== true) return false
  ctx.vary('accept')
  if (ctx.accepts('json', 'html') !== 'html') return false
  ctx.set(pageHeaders)
  ctx.set('cache-control', 'no-store')
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = htmlOf(error, ctx.state.requestId)
  return true
}

/** A message may quote what a provider said. */
const htmlOf = ({ message, code }: ApiError, requestId: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Not signed in - Gatehouse</title>
    <link rel="stylesheet" href="/console/page.css" />
  </head>
  <body>
    <main>
      <h1>You are not signed in</h1>
      <p role="alert">${escapeHtml(message)}</p>
      <p><a href="/console">Sign in again</a></p>
      <p>For your administrator: ${escapeHtml(code)}, request ${escapeHtml(requestId)}.</p>
    </main>
  </body>
</html>
`
