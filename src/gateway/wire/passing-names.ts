/** Headers that end at each hop: RFC 9110 section 7.6.1. `te` describes a hop's framing too. */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade']

/** Request headers that are not for the provider, each for its reason. */
const notForProvider = new Set([
  ...hopByHop,
  'host', // the provider's own, from the target
  'content-length', // counted again by the sender, from the bytes that really go out
  'expect', // answered by us
  'cookie', // belongs to our host
  'x-csrf-token', // guards a session at our host
  'x-xsrf-token',
  'proxy-authorization', // credentials of the hop
  'proxy-authenticate',
  'forwarded', // a client's claims about its own network are no business of the provider
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-real-ip',
  'x-forwarded-prefix',
  'x-forwarded-uri',
  'x-forwarded-method',
  'x-forwarded-client-cert',
  'x-original-forwarded-for',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'origin', // the page that called us; some providers refuse requests that look like a browser's
  'referer', // the URL of that page, whose query may hold a key of ours
  'x-original-url', // a server that honours these serves another path, or method, than the one that was looked at
  'x-original-uri',
  'x-original-host',
  'x-rewrite-url',
  'x-envoy-original-path',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'metadata', // cloud metadata services answer requests with these headers
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-aws-ec2-metadata-token-ttl-seconds',
  'x-google-metadata-request',
])

/** Answer headers that speak of the provider's hop or origin, not of ours. */
const notForCaller = new Set([
  ...hopByHop,
  'proxy-authenticate',
  'set-cookie', // would be stored for our host
  'set-cookie2',
  'strict-transport-security', // would bind our host
  'alt-svc', // would lead the client around the gateway
  'public-key-pins',
  // a browser would do these to our host, or on its behalf: empty its storage, report its visitors, go elsewhere, run a worker
  'clear-site-data',
  'nel',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'refresh',
  'origin-agent-cluster',
  'sec-session-registration',
  'set-login',
  'speculation-rules',
  'activate-storage-access',
  'login-status',
  'use-as-dictionary',
  'accept-ch',
  'critical-ch',
  'link', // a browser would load, or connect to, the addresses in it
  'content-security-policy', // it may report our URL, which may hold a key, to a host of its own; ours is set in its place
  'content-security-policy-report-only',
  'referrer-policy', // would let a page reveal our URL to the hosts that it links to
  'cross-origin-resource-policy', // may open our answers to pages of others
  'timing-allow-origin',
  'x-dns-prefetch-control',
  'attribution-reporting-register-source',
  'attribution-reporting-register-trigger',
  'observe-browsing-topics',
  'shared-storage-write',
  'supports-loading-mode',
  'sourcemap', // developer tools would load it
  'x-sourcemap',
  'www-authenticate', // a browser would ask its person for a password to our host
  // a proxy or cache in front of us would obey these: serve a file of its own, go elsewhere, keep the answer
  'x-accel-redirect',
  'x-accel-expires',
  'x-accel-charset',
  'x-accel-limit-rate',
  'x-sendfile',
  'x-lighttpd-send-file',
  'x-sendfile2',
  'x-lighttpd-send-tempfile',
  'x-litespeed-location',
  'x-litespeed-cache-control',
  'x-litespeed-purge',
  'x-litespeed-tag',
  'x-litespeed-vary',
  'x-reproxy-url',
  'x-reproxy-file',
  'x-middleware-rewrite',
  'fly-replay',
  'x-envoy-immediate-health-check-fail',
  'x-envoy-degraded',
  'x-envoy-overloaded',
  'x-envoy-ratelimited',
  // an answer that was given for a credential is kept by no cache: ours states it (`privacyOf`)
  'cache-control',
  'expires',
  'age',
  'pragma',
  'no-vary-search',
  'surrogate-control',
  'surrogate-key',
  'cache-tag',
  'edge-cache-tag',
  'cdn-cache-control',
  'cloudflare-cdn-cache-control',
  'vercel-cdn-cache-control',
  'netlify-cdn-cache-control',
  'akamai-cache-control',
  'cache-tags',
  'xkey',
  'edge-control',
  // the pages that may call the provider are not those that may call us
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-expose-headers',
  'access-control-max-age',
  'x-content-type-options', // ours is set already
])

/** Returns a name as servers read it that give headers to programs by CGI and its kin: there `_` and `-` are one. */
export const asRead = (lower: string): string => (lower.includes('_') ? lower.replaceAll('_', '-') : lower)

/** Returns true for a request header that a provider may see; the name in lower case. Headers that begin with `sec-` are a browser's words to us. */
export const passesToProvider = (lower: string): boolean => !notForProvider.has(asRead(lower)) && !lower.startsWith('sec-')

/** Returns true for an answer header that the caller may see; the name in lower case. */
export const passesToCaller = (lower: string): boolean => !notForCaller.has(lower)
