// The hosts that an organisation allows (`settings.allowed_custom_hosts`) bind each file that sends something out for it. A new file that sends
// something out, or takes the egress of an organisation without its hosts, fails until it stands here.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

/** The file itself narrows the egress. */
const here = 'here'
/** The file is given an egress that is narrowed: by the code that calls it. */
const given = (...by: readonly string[]) => by
/** The address is the operator's, or fixed by the catalogue. */
const operator = (what: string) => what

/** The place where the egress of each file that sends requests out is narrowed, by its path in `src`. */
const senders: Readonly<Record<string, string | readonly string[]>> = {
  'gateway/attempts/answer-source.ts': given('gateway/outgoing/prepare.ts'),
  'gateway/mcp/oauth/ask-issuer.ts': given('features/mcp-tokens/ask-tokens.ts'),
  'gateway/mcp/upstream/post.ts': here,
  'gateway/sockets/provider-socket.ts': given('gateway/outgoing/prepare.ts'),
  'gateway/outgoing/renew-secrets.ts': given('gateway/outgoing/prepare.ts'),
  'gateway/attempts/send-steps.ts': given('gateway/outgoing/prepare.ts'),
  'gateway/batches/ask-batch.ts': here,
  'gateway/checks/partners/partner.ts': given('gateway/attempts/try-target.ts', 'gateway/checks/try-guardrail.ts'),
  'gateway/checks/default/valid-urls.ts': given('gateway/attempts/try-target.ts', 'gateway/checks/try-guardrail.ts'),
  'gateway/checks/default/jwt-introspection.ts': given('gateway/attempts/try-target.ts', 'gateway/checks/try-guardrail.ts'),
  'gateway/checks/default/webhook.ts': given('gateway/attempts/try-target.ts', 'gateway/checks/try-guardrail.ts'),
  'gateway/checks/default/log.ts': given('gateway/attempts/try-target.ts', 'gateway/checks/try-guardrail.ts'),
  'gateway/credentials/token-endpoint.ts': given('gateway/outgoing/prepare.ts', 'gateway/models/test-provider.ts'),
  'gateway/credentials/workload/google-identity.ts': operator('the metadata service of the platform'),
  'gateway/key-sets/jwks.ts': given('gateway/callers/tokens/verify-token.ts', 'features/sso/backchannel.ts'),
  'gateway/secrets/managers/ask-manager.ts': given('gateway/outgoing/prepare.ts', 'gateway/secrets/test-secret.ts'),
  'app/journal/span-exporter.ts': operator('the receiver of spans is a setting'),
  'app/log-store/object-store.ts': operator('the log store is a setting'),
  'app/prices/layer-sources.ts': operator('price lists are settings'),
  'features/alerts/deliveries.ts': here,
  'features/mcp-sign-ins/client-documents.ts': here,
  'features/identity-providers/client.ts': here,
  'features/identity-providers/test-provider.ts': here,
  'features/identity-providers/examine/oidc.ts': here,
  'cli/ask-process.ts': operator('the process itself'),
  'distribution/registry/wire.ts': operator('the registry that the command line names'),
}

/** The files that take the egress of an organisation as it is, and where it is narrowed behind them. */
const takers: Readonly<Record<string, readonly string[]>> = {
  'gateway/attempts/answer-source.ts': given('gateway/outgoing/prepare.ts'),
  'gateway/explain/describe-request.ts': given('gateway/outgoing/prepare.ts'),
  'gateway/sockets/provider-socket.ts': given('gateway/outgoing/prepare.ts'),
  'features/integrations/trial.routes.ts': given('gateway/models/test-provider.ts'),
  'features/costs/settle-batch.ts': given('gateway/batches/ask-batch.ts'),
}

const root = path.resolve(import.meta.dirname, '../../src')
const textOf = (file: string): string => readFileSync(path.join(root, file), 'utf8')
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.startsWith('gateway/egress/') && !file.startsWith('gateway/exchange/'),
)
const found = (pattern: RegExp): readonly string[] => sources.filter((file) => pattern.test(textOf(file))).toSorted()

test('each file that sends a request out is listed, with where the hosts of the organisation bind it', (t) => {
  t.deepEqual(found(/\borigin\.(?:send|upgrade)\(|egress[\w.(), ]*\s*\.exchange\(/), Object.keys(senders).toSorted())
})

test('each file that takes the egress of an organisation without its hosts is listed', (t) => {
  t.deepEqual(found(/egress[\w.]*\.ownedBy\(/), Object.keys(takers).toSorted())
})

test('each place that is said to narrow the egress does', (t) => {
  const places = Object.entries({ ...senders, ...takers }).flatMap(([file, where]) => (where === here ? [file] : where))
  for (const place of new Set(places.filter((text) => text.endsWith('.ts'))))
    t.regex(textOf(place), /\b(?:egressFor|narrowed|tenantEgress)\(/, place)
})
