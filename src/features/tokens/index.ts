import { feature } from '../../app/feature.ts'
import { introspectionScopes, introspectToken } from './introspection.routes.ts'
import { tokenHolderView, tokenIssuerView } from './token.views.ts'

/** The behaviour of tokens is in `src/gateway/callers/tokens`, which both planes follow; their verification is a setting of the organisation. */
const behaviour = { permissions: [], entities: [], routes: [] }

/** Callers may show a JSON Web Token of their organisation's issuer instead of an API key. */
export const jwtAuthentication = feature({
  id: 'jwt-authentication',
  since: '1.3.0',
  changes: ['1.12.0'],
  requires: ['organisations', 'workspaces'],
  ...behaviour,
  views: { tokenIssuer: tokenIssuerView, tokenHolder: tokenHolderView },
})

/** Tokens may hold the scopes that read and list. */
export const jwtScopes = feature({ id: 'jwt-scopes', since: '1.7.3', requires: ['jwt-authentication'], ...behaviour })

/** Introspection: the owner and the rights of a token. */
export const tokenIntrospection = feature({
  id: 'token-introspection',
  since: '1.3.0',
  changes: ['1.7.3'],
  requires: ['users'],
  permissions: introspectionScopes,
  entities: [],
  routes: [introspectToken],
})
