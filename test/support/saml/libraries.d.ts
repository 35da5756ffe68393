/** The parts of the packages that the tests use: they have no types of their own, or such as are for browsers. */
declare module 'xml-crypto' {
  export class SignedXml {
    constructor(options: { readonly privateKey: string; readonly signatureAlgorithm: string; readonly canonicalizationAlgorithm: string })
    enableHMAC(): void
    addReference(reference: { readonly xpath: string; readonly digestAlgorithm: string; readonly transforms: readonly string[] }): void
    computeSignature(
      xml: string,
      options: { readonly prefix: string; readonly location: { readonly reference: string; readonly action: 'after' } },
    ): void
    getSignedXml(): string
  }
}

declare module 'samlp' {
  /** The settings of the provider; the rest has defaults. */
  export interface SamlpOptions {
    readonly issuer: string
    readonly cert: string
    readonly key: string
    readonly audience: string
    readonly recipient: string
    readonly destination: string
    readonly inResponseTo?: string
    readonly signatureAlgorithm: 'rsa-sha256'
    readonly digestAlgorithm: 'sha256'
    readonly signResponse?: boolean
    readonly lifetimeInSeconds?: number
    readonly sessionIndex?: string
    readonly encryptionCert?: string
    readonly encryptionPublicKey?: string
    readonly encryptionAlgorithm?: string
    readonly disallowEncryptionWithInsecureAlgorithm?: boolean
  }

  /** A profile as passport has it. */
  export interface SamlpUser {
    readonly id: string
    readonly displayName: string
    readonly name: { readonly givenName: string; readonly familyName: string }
    readonly emails: readonly { readonly value: string }[]
  }

  export function getSamlResponse(options: SamlpOptions, user: SamlpUser, callback: (error: Error | null, xml: string) => void): void
}
