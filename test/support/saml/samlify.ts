import { createRequire } from 'node:module'

interface Flow {
  readonly extract: unknown
}

interface Metadata {
  getEntityID(): string
  getAssertionConsumerService(binding: string): string
  getX509Certificate(use: string): string
}

interface Sp {
  readonly entityMeta: Metadata
}

interface Idp {
  getMetadata(): string
  parseLoginRequest(
    sp: Sp,
    binding: string,
    request: { readonly query: Record<string, string>; readonly octetString?: string },
  ): Promise<Flow>
  createLoginResponse(
    sp: Sp,
    request: Flow,
    binding: string,
    user: object,
    replace: (template: string) => { readonly id: string; readonly context: string },
  ): Promise<{ readonly context: string }>
}

interface IdpSettings {
  readonly entityID: string
  readonly signingCert: string
  readonly privateKey?: string
  readonly wantAuthnRequestsSigned?: boolean
  readonly isAssertionEncrypted?: boolean
  readonly requestSignatureAlgorithm?: string
  readonly dataEncryptionAlgorithm?: string
  readonly keyEncryptionAlgorithm?: string
  readonly nameIDFormat?: readonly string[]
  readonly singleSignOnService: readonly { readonly Binding: string; readonly Location: string }[]
}

interface Samlify {
  readonly IdentityProvider: (settings: IdpSettings) => Idp
  readonly ServiceProvider: (settings: { readonly metadata: string }) => Sp
  readonly setSchemaValidator: (validator: { validate(xml: string): Promise<string> }) => void
  readonly Constants: {
    readonly namespace: { readonly binding: { readonly redirect: string; readonly post: string } }
    readonly algorithms: {
      readonly signature: { readonly RSA_SHA256: string }
      readonly encryption: { readonly data: { readonly AES_256: string }; readonly key: { readonly RSA_OAEP_MGF1P: string } }
    }
  }
}

/** The library `samlify`. An import would bring the types of browsers, which its own need, into the whole program. */
export const samlify = createRequire(import.meta.url)('samlify') as Samlify
