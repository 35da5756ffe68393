// All spending of Gatehouse is in the ledger: each place that sends a request out is listed here, with the reason why it is free or the tests that
// prove that its cost is charged. A new place fails until it stands in the list.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

type Proof = readonly [file: string, title: string]

/** The charge of an exchange is settled by its end, for any maker of the exchange. */
const settled: readonly Proof[] = [
  ['integration/gateway/costs.test.ts', 'an attempt that failed costs what its provider tells of it'],
  ['integration/features/settlement.test.ts', 'each attempt that began a job is charged for it'],
]

interface Door {
  readonly what: string
  /** The tests that prove its charge; a text: the reason why it is free. */
  readonly cost: string | readonly Proof[]
}

const identity = 'a credential, keys or metadata are read: no model runs'
const told = 'a host of the customer is told something, which no price list sells'

/** The files that send requests out, by their path in `src`. */
const doors: Readonly<Record<string, Door>> = {
  'gateway/attempts/answer-source.ts': { what: 'the request of an attempt, of callers, mirrors and the process itself', cost: settled },
  'gateway/outgoing/renew-secrets.ts': {
    what: 'the same attempt again with a renewed credential, once the first was refused',
    cost: settled,
  },
  'gateway/attempts/send-steps.ts': {
    what: 'the steps of one attempt: looks at a job by GET, the stream of its answer, and its end',
    cost: [['integration/gateway/costs.test.ts', 'foreignCharges']],
  },
  'gateway/batches/ask-batch.ts': {
    what: 'looks by GET at batches, videos and responses that were begun: what these cost is charged when they have ended',
    cost: [
      ['integration/features/batches.test.ts', 'unpriced_job'],
      ['integration/features/later-costs.test.ts', 'unpriced_job'],
    ],
  },
  'gateway/checks/partners/partner.ts': {
    what: 'guardrails of partners, which the customer pays by a contract of its own with them',
    cost: 'no list has prices of partners, and no key of theirs reaches a model of a provider',
  },
  'gateway/checks/default/valid-urls.ts': { what: 'a look whether a link exists', cost: 'no model runs' },
  'gateway/checks/default/jwt-introspection.ts': { what: 'a token is introspected', cost: identity },
  'gateway/checks/default/webhook.ts': { what: 'a guardrail of the customer', cost: told },
  'gateway/checks/default/log.ts': { what: 'a log of the customer', cost: told },
  'gateway/credentials/token-endpoint.ts': { what: 'a token for a provider', cost: identity },
  'gateway/credentials/workload/google-identity.ts': { what: 'the identity of the process', cost: identity },
  'gateway/key-sets/jwks.ts': { what: 'the keys of an issuer', cost: identity },
  'gateway/secrets/managers/ask-manager.ts': { what: 'a secret of an external manager', cost: identity },
  'gateway/sockets/provider-socket.ts': { what: 'the handshake of a realtime session', cost: 'no model runs before its first turn' },
  'gateway/mcp/oauth/ask-issuer.ts': { what: 'authorization servers of MCP servers', cost: identity },
  'gateway/mcp/upstream/post.ts': { what: 'calls of MCP servers, which count as requests', cost: 'no model runs' },
  'app/journal/span-exporter.ts': { what: 'spans', cost: told },
  'app/log-store/object-store.ts': { what: 'logs in a bucket of the customer', cost: told },
  'app/prices/layer-sources.ts': { what: 'price lists', cost: 'a file is read' },
  'features/alerts/deliveries.ts': { what: 'alerts', cost: told },
  'features/mcp-sign-ins/client-documents.ts': { what: 'the metadata documents of clients of MCP', cost: identity },
  'features/identity-providers/client.ts': { what: 'sign-ins', cost: identity },
  'features/identity-providers/test-provider.ts': { what: 'the trial of an identity provider', cost: identity },
  'features/identity-providers/examine/oidc.ts': { what: 'the trial of an identity provider', cost: identity },
  'cli/ask-process.ts': { what: 'the process itself is asked how it is', cost: 'no model runs' },
  'distribution/registry/wire.ts': { what: 'images of releases', cost: 'a registry is read' },
}

/** The files that make a call of their own through the data plane, by the pipeline of which each is limited, logged and charged. */
const inner: Readonly<Record<string, Door>> = {
  'gateway/gateway.ts': { what: 'the door itself', cost: settled },
  'gateway/mirrors/mirrors.ts': {
    what: 'copies for mirrors',
    cost: [['integration/gateway/mirrors.test.ts', 'a config of a request leaves no copy out of budgets, wherever its mirror stands']],
  },
  'app/start/open-planes.ts': {
    what: 'embeddings for the semantic cache, at the expense of the key that asks',
    cost: [['integration/features/semantic-cache.ts', 'it costs the key that asks']],
  },
  'gateway/sockets/provider-session.ts': {
    what: 'the turns of realtime sessions',
    cost: [['integration/gateway/realtime-sockets.test.ts', 'turns cost what their tokens of text and sound cost, cached ones less']],
  },
  'app/managed/open-managed.ts': {
    what: 'the lines of batches, at the expense of the key that made the batch',
    cost: [
      ['integration/process/managed-batches.test.ts', 'after kills at random moments each line has one result, one log and one settlement'],
    ],
  },
  'app/http/routes/send.ts': { what: 'requests of the control plane, such as the trial of a provider or a prompt', cost: settled },
}

const root = path.resolve(import.meta.dirname, '../..')
const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('gateway/egress/') && !file.startsWith('gateway/exchange/'))
  .map((file) => [file, readFileSync(path.join(root, 'src', file), 'utf8')] as const)

const found = (pattern: RegExp): readonly string[] => sources.flatMap(([file, text]) => (pattern.test(text) ? [file] : [])).toSorted()

test('each file that sends a request out is listed, with what it costs', (t) => {
  t.deepEqual(found(/\borigin\.(?:send|upgrade)\(|egress[\w.(), ]*\s*\.exchange\(/), Object.keys(doors).toSorted())
})

test('each file that makes a call through the data plane is listed', (t) => {
  t.deepEqual(found(/\bperformBy\(|\bgateway\.perform\(/), Object.keys(inner).toSorted())
})

for (const [file, { what, cost }] of [...Object.entries(doors), ...Object.entries(inner)])
  test(`what ${file} sends: ${what}`, (t) => {
    if (typeof cost === 'string') t.not(cost, '')
    else
      for (const [proof, title] of cost) t.true(readFileSync(path.join(root, 'test', proof), 'utf8').includes(title), `${proof}: ${title}`)
  })
