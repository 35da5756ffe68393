import type { Deps } from '../../app/deps.ts'

/** The identity provider by which somebody signs in. */
export interface SignInProvider {
  readonly type: 'oidc' | 'saml'
  /** As people know it, such as `Okta`. */
  readonly name: string
  /** The path that a browser goes to. */
  readonly login_path: string
}

/** Hints by which somebody who wants to sign in names their organisation. */
export interface Wanting {
  /** The slug of an organisation. */
  readonly organisation?: string | undefined
  /** In lower case; only its domain may decide, so that nobody learns who has an account. */
  readonly email?: string | undefined
}

/** Finds the identity provider of an organisation, by its slug or by a domain that it owns; null: it has none, or there is no such organisation. */
export type FindProvider = (deps: Deps, wanting: Wanting) => Promise<SignInProvider | null>

/** No identity provider can be set in this build. */
export const findProvider: FindProvider = async () => null
