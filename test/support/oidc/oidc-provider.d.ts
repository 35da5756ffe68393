/** The parts of the package that the tests use: it has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface GrantContext {
    readonly oidc: {
      readonly session: { readonly accountId: string }
      readonly client: { readonly clientId: string }
      readonly requestParamScopes: ReadonlySet<string>
    }
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    readonly Grant: new (of: { accountId: string; clientId: string }) => Grant
    callback(): RequestListener
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: Readonly<Record<string, unknown>>): Promise<void>
  }

  export type { GrantContext }
}
