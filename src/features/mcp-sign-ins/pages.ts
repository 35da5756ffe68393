import type { HtmlPage, MountedRequest } from '../../app/mounted-app.ts'
import { escapeHtml } from '../../lib/text/escape-html.ts'

type PageMaker = Pick<MountedRequest, 'page'>

/** The reason for which a request is not answered at its program, whose address is not to be trusted. */
export interface RenderedFault {
  readonly error: string
  readonly error_description?: string
}

/** Returns the page for a request that cannot be answered at its program. */
export const refusalPage = ({ page }: PageMaker, { error, error_description }: RenderedFault): HtmlPage =>
  page(
    'Not let in',
    `<h1>This program cannot be let in</h1>
      <p role="alert">${escapeHtml(error_description ?? error)}</p>
      <p>Nothing was allowed. For the makers of the program: ${escapeHtml(error)}.</p>`,
  )

/** Returns the page for a browser that another site sent here: it comes back from this page, and with its cookies. */
export const comeBackPage = ({ page }: PageMaker, address: string): HtmlPage =>
  page(
    'Sign in',
    `<meta http-equiv="refresh" content="0;url=${escapeHtml(address)}" />
      <h1>One moment</h1>
      <p><a href="${escapeHtml(address)}">Go on</a></p>`,
  )
