import type { ErrorCode } from '../../lib/errors.ts'
import type { Advice } from './advice.ts'

/** Every code that an answer can carry. The compiler refuses a code that is not explained here. */
export const errorAdvice: Readonly<Record<ErrorCode, Advice>> = {
  invalid_request: {
    means: 'The request is invalid for this endpoint. `param` names the field or the header, the message its limit.',
    fix: 'Correct the request. The same request will be refused again.',
  },
  missing_provider: {
    means: 'The request names no provider, or the provider has no host.',
    fix: 'Send `x-service-provider: @slug`, name the model `@slug/model`, or store a `custom_host` with the integration.',
  },
  unknown_provider: {
    means: 'The workspace of the key has no provider or virtual key of this slug.',
    fix: 'Look at `GET /v1/providers` with the same key. Give the workspace access to the integration, or correct the slug.',
  },
  missing_credential: {
    means: 'The provider needs a credential, and neither the integration nor the request has it.',
    fix: 'Store it with the integration, or send it in the header that the message names.',
  },
  blocked_host: {
    means: 'The host of a custom provider is private, is a metadata service, or uses a port that is refused.',
    fix: 'To allow the host, add it to `TRUSTED_CUSTOM_HOSTS`, with its port if the port is refused. Metadata services are never allowed.',
  },
  unsupported_operation: {
    means: 'The endpoint does not exist for this provider, or the protocol is not supported.',
    fix: 'Ask a provider that the message lists, or use an endpoint that this one has. A custom host gets every path as it is.',
  },
  AB01: {
    means: 'A body, a path or a query of the control plane is not valid. `param` names the field.',
    fix: 'Correct the field. The API page at `/docs` gives its type and its bounds.',
  },
  AB02: {
    means: 'The resource that the request names does not exist.',
    fix: 'Check the id or the slug, and that the key belongs to the same organisation.',
  },
  AB03: {
    means: 'The key is valid but not allowed to do this: it lacks a scope, or belongs to another workspace.',
    fix: 'Use a key with the scope that the message names, or add the scope to this one (`PUT /v1/api-keys/{id}`).',
  },
  AB04: {
    means: 'A fault in Gatehouse on the control plane.',
    fix: 'Look for the `request_id` in the log. If the reason is unclear, send a support bundle.',
  },
  AB05: {
    means: 'The control plane got no key, an unknown one, or one that has expired or was revoked.',
    fix: 'Send a valid key in `x-service-api-key`. If you have none, create one with `gatehouse keys create`.',
  },
  AB06: {
    means: 'The caller sends too many requests to the control plane.',
    fix: 'Wait as long as `retry-after` states.',
  },
  AB07: {
    means: 'The request conflicts with stored data: a unique value is already used, or another resource depends on the one to delete.',
    fix: 'Choose another value, or remove the dependent resources first; the message names them.',
  },
  AB08: {
    means: 'The resource in the path or in a field does not exist, was deleted, or belongs to another organisation or workspace.',
    fix: 'Check the id or the slug in a list made with the same key.',
  },
  AB09: {
    means: 'A budget that the organisation set is used up.',
    fix: 'Raise or reset the limit, or wait until its period ends.',
  },
  unauthorized: {
    means: 'The data plane got no Gatehouse key, or an unknown one.',
    fix: "Send the key in `x-service-api-key`, or in `Authorization: Bearer` when that is not the provider's. A database that is away never causes this.",
  },
  expired_key: {
    means: 'The key has passed its `expires_at`, or the transition period after its rotation is over.',
    fix: 'Use the new key, or give this one a later `expires_at`.',
  },
  second_factor_required: {
    means:
      'The password is right, and the person has a second factor, which the sign-in lacks; or the organisation asks all people for one.',
    fix: 'Send `code` (of the authenticator app, or a recovery code) or `passkey` with the password; `methods` names the factors of the person. A person without one sets one up first. An owner or admin resets lost ones.',
  },
  forbidden: {
    means: 'The key may not call models, or the feature, provider or model is not allowed for its workspace.',
    fix: 'Use a workspace key with the scope that the message names, or change the models that the workspace may use.',
  },
  authorization_required: {
    means: 'The person of the key has not signed in at the MCP server, or their sign-in there is over.',
    fix: 'Open the address in `url` in a browser, sign in at the server, and call again.',
  },
  not_found: {
    means: 'There is no operation at this path.',
    fix: 'Check the path: everything except health, metrics and documents is below `/v1`.',
  },
  feature_unavailable: {
    means: 'The feature is switched off, or comes with a release above the level that is in effect.',
    fix: 'The message names the setting to turn on, or the release. Raise the level with `gatehouse finalize`.',
  },
  method_not_allowed: {
    means: 'The path does not take this method.',
    fix: 'Use a method that the message lists.',
  },
  upstream_timeout: {
    means:
      'The provider did not answer in time: not at all (`REQUEST_TIMEOUT`, `CONNECT_TIMEOUT`), or it paused too long (`STREAM_IDLE_TIMEOUT`).',
    fix: 'Look at the state of the provider and at the network; raise the setting when long answers are usual.',
  },
  budget_exhausted: {
    means: 'The usage limit of the API key or of the provider is used up.',
    fix: 'Raise the limit, reset the usage, or wait until its period ends.',
  },
  cost_pending: {
    means: 'A job, or a file that may hold its answers, is to be deleted at its provider before Gatehouse has read the cost.',
    fix: 'Wait until the job has ended, or cancel it, and delete it then; after a fault of the provider try again in a minute.',
  },
  precondition_failed: {
    means: 'Another caller changed the resource after you read it (`If-Match`).',
    fix: 'Read it again, apply your change to the new state, and send the new `ETag`.',
  },
  request_timeout: {
    means: 'The client did not send its request in time.',
    fix: 'Look at the network between, and at proxies that hold bodies back.',
  },
  payload_too_large: {
    means: 'The body is larger than the installation takes.',
    fix: 'Send less, or raise `MAX_JSON_PAYLOAD_SIZE_IN_MB` or `MAX_UPLOAD_SIZE_IN_MB`; also the limit of a proxy in front. Bodies of the control plane have at most 2 MB, those of sign-ins, of their second factors and of accepted invites 64 KB.',
  },
  unsupported_media_type: {
    means: 'The type or the encoding of the body is not one that the endpoint reads.',
    fix: 'Send the `content-type` that the message names; compress with gzip, deflate, br, or not at all.',
  },
  upgrade_required: {
    means: 'The path opens a WebSocket, and the request was none for a WebSocket of version 13.',
    fix: 'Connect with a WebSocket client; a proxy in front must pass on `Connection: Upgrade` and `Upgrade: websocket`.',
  },
  range_not_satisfiable: {
    means: 'The range of the request begins behind the end of the file.',
    fix: 'Ask for a part that the file has: `content-range` of the answer states its size.',
  },
  headers_too_large: {
    means: 'The request has too many headers, or too large ones.',
    fix: 'Send fewer or shorter headers; cookies of a browser are the usual cause.',
  },
  rate_limited: {
    means:
      'The API key, the provider or the workspace has used up its rate limit; or the address has shown too many API keys, tokens or invitations that are not good.',
    fix: 'Wait as long as `retry-after` states, or raise the limit (`FAILED_CREDENTIALS_PER_MINUTE` for addresses; behind a proxy give `TRUSTED_PROXIES`, else all clients are one address). A 429 of the provider itself has no code of ours.',
  },
  client_closed: {
    means: 'The client left before its answer was complete. This code appears only in logs.',
    fix: 'No action, unless it is frequent: then the timeout of the client is shorter than the answers of the provider.',
  },
  internal: {
    means: 'An unexpected fault in Gatehouse.',
    fix: 'Look for the `request_id` in the log; send a support bundle.',
  },
  hooks_failed: {
    means: 'A guardrail denied the request or the answer (status 446). `hook_results` in the body names the check and the reason.',
    fix: 'Change the request, or ask the owner of the guardrail. It belongs to the config, the workspace or the organisation.',
  },
  not_implemented: {
    means: 'The config uses a feature that this release stores but does not run.',
    fix: 'Use a config without the part that the message names, or a release that has it.',
  },
  upstream_unreachable: {
    means: 'No connection to the provider could be made: the name does not resolve, the port is closed, or TLS failed.',
    fix: 'Try from the same machine: `curl -v` to the host in the message. Private authorities belong in `NODE_EXTRA_CA_CERTS`, egress rules in the NetworkPolicy. A message that names a proxy: see [forward proxies](proxies.md).',
  },
  upstream_bad_response: {
    means: 'The provider closed the connection, or sent invalid HTTP.',
    fix: 'Try again. If it remains, check the proxies in between and the state of the provider.',
  },
  credential_failed: {
    means: 'The stored credential could not be used: its token endpoint refused it, or it cannot be opened.',
    fix: 'Store the credential anew. When many fail at once, the encryption key is the wrong one for part of the data: run `gatehouse preflight`.',
  },
  secret_unavailable: {
    means:
      'A secret that the provider needs could not be read from its secret manager, and no value that may still be used is held: the manager is away, sealed or late, refuses the sign-in, or has no such secret. The message names the cause.',
    fix: '`POST /v1/secret-references/{id}/test` tries it step by step; `GET` of the reference shows the last time and error. Values that were read serve for `SECRET_MAX_STALE` while a manager is away.',
  },
  dependency_unavailable: {
    means: 'The database is unreachable, and the data in memory is not enough for this request.',
    fix: 'Look at `/readyz` and at PostgreSQL; run `gatehouse doctor`. Requests with known keys go on for `CACHE_MAX_STALE`.',
  },
  busy: {
    means:
      'The database answers, and gave the work up: other work holds the same data for longer than a request may wait, or the request itself took longer than it may.',
    fix: 'Try again after `retry-after`. When it remains: a migration or a long transaction holds a lock (`pg_locks`, `pg_stat_activity`), or the database is too small for its load.',
  },
  sealed: {
    means: 'The process has no encryption key, a malformed one, or not that of the database. It decrypts no secret.',
    fix: 'Set `ENCRYPTION_KEY` to the key of this database, and restart. `gatehouse preflight` shows the fingerprints.',
  },
  draining: {
    means: 'The process is shutting down.',
    fix: 'Send the request again; another process takes it. When it is frequent, give load balancers more time with `DRAIN_DELAY`.',
  },
  overloaded: {
    means: 'The process refuses new requests because it is late, short of memory, or has too many connections.',
    fix: 'Add replicas or memory; see [sizing](sizing.md). Clients try again after `retry-after`.',
  },
}
