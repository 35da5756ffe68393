import type { Provider } from './provider-facts.ts'

/** The endpoints without which a sign-in is impossible. They come together: then the provider is not asked for its discovery document. */
export const neededEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

/** The endpoints that may be given by hand, under the names that a discovery document has for them. */
export const endpointNames = [...neededEndpoints, 'userinfo_endpoint', 'end_session_endpoint'] as const

/** Endpoints that are given by hand; they go before those of a discovery document. */
export type Endpoints = Partial<Readonly<Record<(typeof endpointNames)[number], string>>>

/** Returns the endpoints of a provider that are given by hand. */
export const endpointsOf = (provider: Pick<Provider, (typeof endpointNames)[number]>): Endpoints =>
  Object.fromEntries(endpointNames.flatMap((name) => (provider[name] === null ? [] : [[name, provider[name]]])))

/** Returns true if no endpoint is left to be discovered. */
export const hasAll = (given: Endpoints): given is Endpoints & Readonly<Record<(typeof neededEndpoints)[number], string>> =>
  neededEndpoints.every((name) => given[name] !== undefined)
