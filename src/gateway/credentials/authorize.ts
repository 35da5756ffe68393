import { ApiError } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { AuthDeps, AuthProof, AuthRequest } from './auth-request.ts'
import { authorizeAws } from './aws.ts'
import { authorizeAzure } from './azure.ts'
import { field, requireKey } from './credential.ts'
import { authorizeGoogle } from './google.ts'
import { authorizeOracle } from './oracle.ts'

export type { AuthDeps, AuthProof, AuthRequest } from './auth-request.ts'

/**
 * Gives a request the proof that its provider demands. Synchronous unless a token must be fetched. Throws or rejects with ApiError
 * `missing_credential`, `invalid_request` (a credential that cannot be right), `blocked_host` (a token endpoint behind the guard) or
 * `credential_failed` (the token endpoint refused or failed). No message holds a secret.
 */
export function authorize(request: AuthRequest, deps: AuthDeps): MaybePromise<AuthProof> {
  const { auth, credential, url } = request
  if (needsNoKey(request)) return { headers: [], path: url.path }
  switch (auth.kind) {
    case 'none':
      return { headers: credential.key === null ? [] : ['authorization', `Bearer ${requireKey(credential)}`], path: url.path }
    case 'bearer':
      return { headers: ['authorization', `${auth.scheme} ${requireKey(credential)}`], path: url.path }
    case 'header':
      return { headers: [auth.name, auth.prefix + requireKey(credential)], path: url.path }
    case 'sigv4':
      return authorizeAws(request, auth.service, deps)
    case 'google':
      return authorizeGoogle(request, deps)
    case 'azure':
      return authorizeAzure(request, auth.keyHeaders ?? ['api-key'], deps)
    case 'oracle':
      return authorizeOracle(request, deps)
    default:
      return unknownKind(auth)
  }
}

const keyKinds: ReadonlySet<string> = new Set(['bearer', 'header'])

/** A provider at a custom address may ask for no key; its stored row states so. */
const needsNoKey = ({ auth, credential }: AuthRequest): boolean =>
  keyKinds.has(auth.kind) && !credential.key && field(credential, 'is_key_required') === 'false'

function unknownKind(auth: never): never {
  throw new ApiError('internal', `No way to authorize by ${JSON.stringify(auth)}.`)
}
