/** The parts of the package that we use: it has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

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

  /** A class of codes or tokens. */
  interface TokenModel {
    readonly prototype: { generateTokenId: () => string }
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    /** True: the forwarded headers of requests count. */
    proxy: boolean
    /** True: errors are not printed. */
    silent: boolean
    readonly Grant: new (of: { accountId: string; clientId: string }) => Grant
    readonly AccessToken: TokenModel
    readonly AuthorizationCode: TokenModel
    readonly RefreshToken: TokenModel
    callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void>
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: Readonly<Record<string, unknown>>): Promise<void>
    on(event: 'server_error', listener: (context: unknown, error: Error) => void): this
  }

  type FaultClass = new (detail?: string) => Error
  export const errors: { readonly InvalidTarget: FaultClass; readonly InvalidGrant: FaultClass; readonly InvalidClientMetadata: FaultClass }

  export type { GrantContext, TokenModel }
}
