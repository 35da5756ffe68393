import { readFileSync } from 'node:fs'
import test from 'ava'

/** Failures that users of other gateways reported, and the tests that show that they cannot happen here. */
const known: readonly (readonly [threads: string, failure: string, file: string, titles: readonly string[]])[] = [
  [
    '#6957, #5512, #40404; 1047',
    'no fallback when a stream of status 200 begins with an error, or breaks before it says anything',
    'integration/gateway/routing.test.ts',
    [
      'no fallback on an overloaded Anthropic (#6957, #5512; 1047)',
      'a 200 stream that begins with an error leads on: overloaded_error of Anthropic, and its kin',
      'a stream that dies between its head and its first event leads on',
      'an error inside a stream after its first content is the caller’s: nothing is tried again',
    ],
  ],
  [
    '#26015',
    'a 429 in a stream: no fallback, and a loop that never ends',
    'integration/gateway/routing.test.ts',
    ['a 429 inside a stream: no fallback, and a busy loop (#26015)', 'retry budget: a storm of 429 over five targets is not hammered'],
  ],
  [
    '#19077, #26998; 165',
    'a fallback where the request or the config wants none',
    'integration/gateway/routing.test.ts',
    [
      'a fallback that ignores its list of statuses (165)',
      'a request that names its target goes there once, and not by a default config of several targets',
      'fallback: a fault of the config or of the request is told, not passed over',
    ],
  ],
  [
    '#4050',
    'no limit for the first token, or between two tokens',
    'integration/gateway/routing.test.ts',
    ['first_token_timeout: a stream that says nothing in time leads on; alone it ends with 504'],
  ],
  [
    '#4050',
    'a stream that falls silent is waited for',
    'integration/gateway/streams.test.ts',
    ["['silent', {", 'a stream that is ${name} ends with an error event'],
  ],
  [
    'the client-closed regression, the eviction of HTTP clients',
    'requests fail after other clients left',
    'integration/gateway/streams.test.ts',
    ['clients that leave do no harm to requests beside and after them', 'a client that leaves ${when} ends the provider'],
  ],
  [
    '#805',
    'a body of more than 1 MB fails in a stream',
    'integration/gateway/routing.test.ts',
    ['a body of more than 1 MB goes to every target whole (envoyproxy/ai-gateway#805)'],
  ],
  [
    '#24902, #5762, #8075, #6963, #15799',
    'a key in a URL is seen in logs',
    'integration/gateway/secrets.test.ts',
    ['what queries name as a secret is not logged, and nothing else is taken out', 'is refused in a query'],
  ],
  [
    '#31620, #25203, #39964',
    'keys in audit logs and in logs of guardrails',
    'e2e/security/canaries.test.ts',
    ['no canary is anywhere, and what may be found is'],
  ],
  [
    '#17221',
    'guardrails on pass-through only when asked',
    'integration/gateway/guardrail-bypass.test.ts',
    ['a kind of request is known in any spelling'],
  ],
  [
    '1205',
    'an answer that fails its guardrail is not tried again',
    'integration/gateway/routing.test.ts',
    [
      'an answer that fails its guardrail is not retried (1205)',
      'guardrails: 246 and 446 lead on when they are named, and each target has its own',
    ],
  ],
  [
    '267',
    '200 on a connection that was lost',
    'integration/gateway/routing.test.ts',
    ['200 on a connection that was lost (267)', '200 on a connection that was lost in a stream (267)'],
  ],
  [
    '1206, 1072, 1627, 1035, 173',
    'odd streams end the process or the answer',
    'integration/gateway/streams.test.ts',
    ['an odd stream passes byte for byte'],
  ],
  [
    '1775, 1763, 1688',
    'a guardrail whose partner never answers holds the request without end',
    'integration/gateway/partner-checks.test.ts',
    ['what on_error says counts when a partner fails', 'what the partner says, and what goes wrong'],
  ],
  [
    '1718, 1372, 1596, 1597',
    'a host that a request names gets a stored credential',
    'e2e/security/ssrf.test.ts',
    ['a stored credential goes nowhere else, however the provider is named'],
  ],
  [
    '1145',
    'parameters that the gateway does not know are dropped',
    'integration/gateway/pass-through.test.ts',
    ['a request body goes on byte for byte'],
  ],
]

for (const [threads, failure, file, titles] of known)
  test(`${failure} (${threads}): its tests are there`, (t) => {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
    for (const title of titles) t.true(text.includes(title), `${file} has no test "${title}"`)
  })
