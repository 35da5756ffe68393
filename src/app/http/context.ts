import type { Context as KoaContext, Middleware as KoaMiddleware } from 'koa'

/** The frame's facts about a request outside the data plane. */
export interface State {
  requestId: string
  startedAt: number
  /** A person's browser is sent to this route: an error can be a page. */
  sendsBrowsers?: true
  /** Set by the control plane for the access line. */
  access: { route?: string; organisationId?: string; workspaceId?: string | null; apiKeyId?: string; userId?: string; errorCode?: string }
}

export type Middleware = KoaMiddleware<State>
export type Context = KoaContext & { state: State }
