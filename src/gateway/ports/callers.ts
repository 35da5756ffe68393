/** The identity of callers: keys, tokens, and limits on failed credentials. */
export { type FailedCredentials, limitFailedCredentials } from '../callers/failed-credentials.ts'
export { findKey, type IdentifyDeps, lacks, onlyReads, showsCredential } from '../callers/identify.ts'
export type { ProviderScope } from '../callers/key.ts'
export { refusalOf, type TokenRefusal } from '../callers/tokens/token-refusals.ts'
export { createTokens, type Tokens } from '../callers/tokens/tokens.ts'
export { remoteKeys } from '../key-sets/jwks.ts'
export { bearerToken } from '../wire/bearer.ts'
