/** A wrong answer of a provider of SAML. The message ends the sentence "could not be verified: ...". */
export class SamlFault extends Error {
  /** The provider itself has refused the sign-in. */
  readonly isRefusal: boolean

  constructor(message: string, { isRefusal = false, ...options }: ErrorOptions & { readonly isRefusal?: boolean } = {}) {
    super(message, options)
    this.isRefusal = isRefusal
  }
}
