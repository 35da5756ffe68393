import { cacheSettings } from './cache-settings.ts'
import { dbSslModes, mailTls, roles } from './choices.ts'
import { apiKey, chart, choice, duration, email, integer, list, onOff, release, secret, size, text } from './kinds.ts'
import { allowedHost, databaseHost, headerAlias, host, proxyAddress, publicUrl, trustedHost, webOrigin } from './network.ts'
import { certificates, certificatesSource, privateKey, privateKeySource } from './pem.ts'
import { identitySettings } from './identity-settings.ts'
import { limitSettings } from './limit-settings.ts'
import { logSettings } from './log-settings.ts'
import { logStoreSettings } from './log-store-settings.ts'
import { scimSettings } from './scim-settings.ts'
import { tracingSettings } from './tracing-settings.ts'
import { priceSettings } from './price-settings.ts'
import { proxySettings } from './proxy-settings.ts'
import { signInSettings } from './sign-in-settings.ts'
import { ssoSettings } from './sso-settings.ts'
import { mcpSettings } from './mcp-settings.ts'
import { socketSettings } from './socket-settings.ts'
import { published } from '../release/published.ts'
import { optional, setting } from './setting.ts'
import { isBuiltWith } from './version.ts'
import { besidesPool } from './side-sessions.ts'

const KiB = 1024
const MiB = 1024 * KiB
const metricsAccess = ['public', 'token', 'off'] as const
const docsAccess = ['public', 'key', 'off'] as const
const chartChecks = ['enforce', 'warn'] as const
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const flag = (what: string) => setting(onOff, 'ON', { desc: `${what} On unless \`OFF\`.`, example: 'OFF', since: '1.9.0' })

/** Every setting, in the order of the documents. Durations are `500ms`, `30s`, `15m`, `1h`, `1d`, or bare milliseconds. */
export const settings = {
  HOST: setting(host, '127.0.0.1', { desc: 'The address to listen on; `0.0.0.0` or `::` for all addresses.', example: '0.0.0.0' }),
  PORT: setting(integer(0, 65_535), '8787', { desc: 'The port to listen on; `0` takes any free port.', example: '8080' }),
  TLS_CERT: optional(certificatesSource, {
    desc: 'The certificate of the port with its chain, as PEM or path. If set, the port speaks only HTTPS. Gatehouse reads a changed file again.',
    example: '/etc/gatehouse/tls/tls.crt',
  }),
  TLS_KEY: optional(privateKeySource, {
    desc: 'The private key of `TLS_CERT`, as PEM or path.',
    example: '/etc/gatehouse/tls/tls.key',
    secret: true,
  }),
  TLS_CA: optional(certificatesSource, {
    desc: 'The authorities of client certificates, as PEM or path. If set, clients need a certificate of these authorities to connect (probes then need `MANAGEMENT_PORT`).',
    example: '/etc/gatehouse/tls/ca.crt',
  }),
  MANAGEMENT_PORT: optional(integer(0, 65_535), {
    desc: 'A second port for `/healthz`, `/readyz` and `/metrics`, with plain HTTP and without a key. If set, `PORT` no longer serves `/metrics`. Allow only probes and Prometheus to reach it.',
    example: '9090',
  }),
  METRICS_ACCESS: setting(choice(metricsAccess), 'public', {
    desc: 'Access to `/metrics` on `PORT`: `public` for all callers, `token` for callers that send `METRICS_TOKEN`, `off` for none.',
    example: 'off',
  }),
  METRICS_TOKEN: optional(apiKey, {
    desc: 'The token that Prometheus sends as `Authorization: Bearer` with `METRICS_ACCESS=token`; at least 32 characters.',
    example: 'the output of: openssl rand -hex 32',
    secret: true,
  }),
  DOCS_ACCESS: setting(choice(docsAccess), 'public', {
    desc: 'Access to `/docs` and `/openapi.json`: `public` for all callers, `key` for callers with an API key (a browser asks for it as a password), `off` for none.',
    example: 'key',
  }),
  PUBLIC_URL: optional(publicUrl, {
    desc: 'The URL by which callers reach Gatehouse, for links in answers and documents. Default: the address it listens on.',
    example: 'https://gateway.example.com',
  }),
  TRUSTED_PROXIES: setting(list(proxyAddress), '', {
    desc: 'The proxies whose `X-Forwarded-*` headers Gatehouse trusts, as addresses or CIDRs.',
    example: '10.0.0.0/8, 127.0.0.1',
  }),
  DATA_DIR: setting(text(4096), '.data', {
    desc: 'The folder for the embedded database, the generated encryption key, and log records that wait for the database.',
    example: '/var/lib/gatehouse',
  }),
  DB_HOST: optional(databaseHost, {
    desc: 'The PostgreSQL server (14 or later), or the folder of its unix socket. If unset, a checkout and an evaluation image start an embedded PostgreSQL in `DATA_DIR`, and ignore the other `DB_*` settings except the pool size. A released image has no PostgreSQL and ends with 78.',
    example: 'db.example.com',
  }),
  DB_PORT: setting(integer(1, 65_535), '5432', { desc: 'The port of PostgreSQL.', example: '5433' }),
  DB_USER: setting(text(63), 'gatehouse', { desc: 'The login at PostgreSQL; it needs no superuser rights.', example: 'gatehouse' }),
  DB_PASS: optional(secret, { desc: 'The password of the login.', example: 'a long random password', secret: true }),
  DB_NAME: setting(text(63), 'gatehouse', { desc: 'The name of the database.', example: 'gatehouse' }),
  DB_POOL_SIZE: setting(integer(1, 1000), '12', {
    desc: `The most database connections of one process for requests of the control plane and for jobs. The process opens up to ${besidesPool} more for work that must not wait behind them.`,
    example: '24',
  }),
  DB_SSL: setting(choice(dbSslModes, { 'Amazon RDS': 'MANAGED', amazon_rds: 'MANAGED' }), 'PREFERRED', {
    desc: 'TLS to PostgreSQL: `DISABLED` never; `PREFERRED` if the server offers it; `REQUIRED` always; `VERIFY_CA` with a trusted authority; `VERIFY_IDENTITY` also with the right host name; `MANAGED` (or `Amazon RDS`) the same with the authorities of managed databases.',
    example: 'VERIFY_IDENTITY',
    since: '1.6.2',
    atEveryLevel: true,
  }),
  DB_SSL_CA: optional(certificates, {
    desc: 'The trusted authorities for the database, as PEM or path. Default: those of Node.',
    example: '/etc/gatehouse/ca.pem',
    since: '1.6.2',
    atEveryLevel: true,
  }),
  DB_SSL_CERT: optional(certificates, {
    desc: 'The client certificate for the database, as PEM or path.',
    example: '/etc/gatehouse/client.pem',
    since: '1.6.2',
    atEveryLevel: true,
  }),
  DB_SSL_KEY: optional(privateKey, {
    desc: 'The private key of that client certificate, as PEM or path.',
    example: '/etc/gatehouse/client.key',
    since: '1.6.2',
    atEveryLevel: true,
    secret: true,
  }),
  ENCRYPTION_KEY: optional(secret, {
    desc: 'The key that seals stored credentials: 32 bytes in base64 (`openssl rand -base64 32`). With a wrong or malformed key the process starts sealed. With the embedded database, an unset key is created in `DATA_DIR`.',
    example: 'the output of: openssl rand -base64 32',
    secret: true,
  }),
  ENCRYPTION_KEY_PREVIOUS: optional(secret, {
    desc: 'The former values of `ENCRYPTION_KEY`, as a comma list. Gatehouse can still open data that they sealed. `gatehouse keys rewrap` seals it with the new key.',
    example: 'the value that ENCRYPTION_KEY had before',
    secret: true,
  }),
  TRUSTED_CUSTOM_HOSTS: setting(list(trustedHost), '', {
    desc: 'The private hosts that Gatehouse may call: names, `*.suffix`, addresses or CIDRs, with or without a port. `10.1.0.7:5432` also allows a port that is otherwise blocked.',
    example: 'ollama.internal:11434, *.svc.cluster.local, 10.1.0.0/16',
  }),
  ALLOWED_CUSTOM_HOSTS: optional(list(allowedHost), {
    desc: 'The only allowed hosts beside the providers of the catalogue, for custom hosts, webhooks and key sets of token issuers, in requests and in stored data: names, `*.suffix`, addresses or CIDRs, with or without a port. `stored` allows all stored hosts and none from a request itself. Private hosts need `TRUSTED_CUSTOM_HOSTS` too. Default: all hosts.',
    example: 'stored, *.llm.example.com, 10.1.0.7:8080',
  }),
  ...proxySettings,
  FAILED_CREDENTIALS_PER_MINUTE: setting(integer(0, 1_000_000), '60', {
    desc: 'The number of invalid API keys, tokens and invitations that one address (for IPv6, one network of 64 bits) may send per minute. Above it, Gatehouse answers unknown credentials from this address with 429, without reading them. Valid keys are neither counted nor refused. An address may also make ten times as many requests without a credential per minute, such as those of sign-ins and links to a new password. Behind a proxy set `TRUSTED_PROXIES`, otherwise all clients share one address. `0`: no limit.',
    example: '600',
  }),
  HEADER_ALIASES: setting(list(headerAlias), '', {
    desc: 'Additional header prefixes: with `portkey`, `x-portkey-*` means `x-service-*`, and answers use the prefix of the caller.',
    example: 'portkey',
  }),
  DEDICATED_VALIDATION: setting(choice(['strict', 'lenient'] as const), 'strict', {
    desc: "Validation of text completions, batches, fine-tuning and threads. `strict`: they need a stored credential (`x-service-virtual-key`, or `x-service-provider: @slug`), and `POST /fine_tuning/jobs` needs `suffix` and `method`. `lenient`: requests may leave these out, as public clients do, and send the caller's own provider key.",
    example: 'lenient',
  }),
  CORS_ORIGINS: setting(list(webOrigin), '', {
    desc: 'The web pages that may call models from a browser: origins (scheme, host, and a port that is not the usual one), or `*` for all. Default: none. The user of a page can read its key, so give the page a separate key with a budget. Pages can never call the control plane.',
    example: 'https://chat.example.com, http://localhost:3000',
  }),
  INIT_ORG_NAME: setting(text(120), 'Default organisation', {
    desc: 'The name of the organisation that the first start creates.',
    example: 'Example Ltd',
  }),
  INIT_WORKSPACE_NAME: setting(text(120), 'Default workspace', {
    desc: 'The name of the workspace that the first start creates.',
    example: 'Research',
  }),
  INIT_ADMIN_API_KEY: optional(apiKey, {
    desc: 'The first organisation-admin key, at least 32 characters. Default: the first start creates one and prints it once.',
    example: 'the output of: openssl rand -hex 32',
    secret: true,
  }),
  INIT_WORKSPACE_API_KEY: optional(apiKey, {
    desc: 'The first key of the first workspace, at least 32 characters. Default: the first start creates one and prints it once.',
    example: 'the output of: openssl rand -hex 32',
    secret: true,
  }),
  INIT_OWNER_EMAIL: optional(email, {
    desc: 'The e-mail address of the first owner. A start creates this owner if the first organisation has none.',
    example: 'ada@example.com',
  }),
  ...signInSettings,
  ...ssoSettings,
  ROLES: setting(list(choice(roles)), roles.join(','), {
    desc: 'The tasks of this process: `gateway` forwards requests, `control` serves the control plane, and the completions of prompts, whose paths are below its own; `jobs` runs background jobs.',
    example: 'gateway',
  }),
  WORKERS: setting(integer(1, 256), '1', { desc: 'The number of processes that serve requests.', example: '2' }),
  LOG_LEVEL: setting(choice(logLevels), 'info', { desc: 'The lowest level that is logged.', example: 'debug' }),
  LOG_FILE: optional(text(4096), {
    desc: 'The file to which the log is appended. Default: standard output, except that `npm start` at a terminal logs to `gatehouse.log` in `DATA_DIR`, so that the screen stays readable.',
    example: '/var/log/gatehouse.log',
  }),
  ...logSettings,
  REQUEST_TIMEOUT: setting(duration(1), '600s', {
    desc: 'The maximum time until a provider begins its answer, and for a whole answer that is not a stream.',
    example: '120s',
  }),
  CONNECT_TIMEOUT: setting(duration(1), '10s', { desc: 'The maximum time to connect to a provider.', example: '3s' }),
  STREAM_IDLE_TIMEOUT: setting(duration(1), '120s', { desc: 'The longest pause within an answer.', example: '30s' }),
  STREAM_OPENS_AFTER: setting(duration(0), '5s', {
    desc: 'The longest wait for the first content of a stream before its headers go to the client, with comments as signs of life. Failures after that stand in the stream, and no other target of a config follows. A `first_token_timeout` after which another target may follow goes first. `0`: the headers wait.',
    example: '15s',
  }),
  MAX_JSON_PAYLOAD_SIZE_IN_MB: setting(size(MiB, { least: 0.001, most: 1024 }), '10', {
    desc: 'The largest JSON body of a request.',
    example: '25',
  }),
  MAX_UPLOAD_SIZE_IN_MB: setting(size(MiB, { least: 0.001, most: 1_048_576 }), '512', {
    desc: 'The largest body of any other kind.',
    example: '100',
  }),
  MAX_LOG_BODY_SIZE_IN_KB: setting(size(KiB, { least: 0, most: 1_048_576 }), '1024', {
    desc: 'The maximum size of a body in a request log; `0` stores no bodies.',
    example: '64',
  }),
  LOG_SPOOL_MAX_MB: setting(size(MiB, { least: 1, most: 1_048_576 }), '1024', {
    desc: 'The maximum disk space for request logs while the database is down. Above it, logs are dropped and counted.',
    example: '4096',
  }),
  CACHE_MAX_STALE: setting(duration(0), '15m', {
    desc: 'How long known keys and providers still work while the database is down.',
    example: '1h',
  }),
  ...cacheSettings,
  MAX_ATTEMPTS_PER_REQUEST: setting(integer(1, 600), '30', {
    desc: 'The most attempts that one request makes at the targets of its config, retries included. A config whose targets would be tried one after the other in a larger number is refused; retries give way to targets that are not tried yet.',
    example: '10',
  }),
  MIRROR_CONCURRENCY: setting(integer(0, 1000), '32', {
    desc: 'The most copies of requests that each process sends to the mirrors of configs at a time; one organisation gets a quarter of them. `0` sends none.',
    example: '100',
  }),
  ...socketSettings,
  ...mcpSettings,
  DRAIN_DELAY: optional(duration(0), {
    desc: 'The time between failing readiness and closing connections, for load balancers to notice. Default: `5s`, with the embedded database `0s`.',
    example: '10s',
  }),
  TERMINATION_GRACE: setting(duration(1), '620s', {
    desc: 'The time for requests to finish after a stop signal, including the drain delay.',
    example: '60s',
  }),
  RELEASE_LEVEL: optional(release, {
    desc: 'The release up to which features are on, if lower than this build and than the finalized release. Use it to try or to undo an upgrade. A new database starts finalized at this release.',
    example: '1.11.2',
  }),
  DEPLOYMENT_CHART: optional(chart, {
    desc: 'The chart that deployed this process; the chart sets it. `gatehouse serve` refuses a chart that is too old for this release, and in Kubernetes also a missing value.',
    example: 'app-1.6.0',
  }),
  DEPLOYMENT_IMAGE: optional(text(512), {
    desc: 'The deployed image, for the release history; the chart sets it.',
    example: 'registry.example.com/gatehouse@sha256:…',
  }),
  DEPLOYMENT_REASON: optional(text(500), {
    desc: 'The reason why this deployment skips a release at which it must stop, or goes to an earlier one, for the release history; the chart sets it.',
    example: 'the volume of 1.4.0 was changed by hand',
  }),
  CHART_CHECK: setting(choice(chartChecks), 'enforce', {
    desc: 'The effect of a chart that is too old: `enforce` refuses to start, `warn` only warns.',
    example: 'warn',
  }),
  SMTP_HOST: optional(host, {
    desc: 'The mail server. Without it, Gatehouse sends no mail, and invitation links are only in answers.',
    example: 'smtp.example.com',
  }),
  SMTP_PORT: setting(integer(1, 65_535), '587', { desc: 'The port of the mail server.', example: '465' }),
  SMTP_TLS: setting(choice(mailTls), 'STARTTLS', {
    desc: 'TLS to the mail server: `STARTTLS` requires it after the greeting, `TLS` uses it from the first byte, `NONE` never.',
    example: 'TLS',
  }),
  SMTP_USER: optional(text(320), { desc: 'The login at the mail server.', example: 'gatehouse' }),
  SMTP_PASSWORD: optional(secret, { desc: 'The password of that login.', example: 'a long random password', secret: true }),
  SMTP_FROM: optional(text(500), {
    desc: 'The sender of mails. Default: `no-reply` at the mail server.',
    example: 'Gatehouse <gatehouse@example.com>',
  }),
  EMAIL_TEMPLATES_PATH: optional(text(4096), {
    desc: 'A folder with your own mail templates: each replaces the built-in one of its name, such as `user-invite.html` or `apikey-usage-exhausted-alert.html`.',
    example: '/etc/gatehouse/emails',
    since: '1.4.0',
  }),
  EMAIL_COMPANY_NAME: setting(text(255), 'Gatehouse', { desc: 'The name in mails.', example: 'Example Ltd', since: '1.4.0' }),
  EMAIL_LOGO_URL: optional(publicUrl, { desc: 'The logo in mails.', example: 'https://example.com/logo.png', since: '1.4.0' }),
  EMAIL_SUPPORT_EMAIL: optional(email, { desc: 'The address for questions in mails.', example: 'help@example.com', since: '1.4.0' }),
  EMAIL_DOCS_URL: optional(publicUrl, {
    desc: 'The documentation that mails link to.',
    example: 'https://docs.example.com',
    since: '1.4.0',
  }),
  ...priceSettings,
  ...limitSettings,
  ...logStoreSettings,
  ...tracingSettings,
  ...scimSettings,
  ...identitySettings,
  GUARDRAILS_ENABLED: flag('Guardrails.'),
  API_ACCESS_ENABLED: flag(
    'Control-plane access with API keys and tokens. Sessions stay, and so do calls to models and the rendering of prompts.',
  ),
  DATA_EXPORTS_ENABLED: flag('Exports of request logs.'),
  USAGE_LIMITS_ENABLED: flag('Usage limits: the policies, and the field `usage_limits` of keys, providers and workspaces.'),
  AUDIT_LOGS_ENABLED: flag('The audit log.'),
  SCIM_ENABLED: flag('Provisioning of users and groups by SCIM.'),
  POLICY_ENABLED: flag('Policies.'),
}

export type SettingName = keyof typeof settings

/** The names of all settings, of later releases too, in the order of the documents. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal are exactly its type's keys
export const allSettingNames = Object.keys(settings) as readonly SettingName[]

/** The settings that the table of releases announces and that no code reads yet. */
export const announcedNames: readonly string[] = published.flatMap(({ env = [] }) => env).filter((name) => !Object.hasOwn(settings, name))

/** The names of the settings that this build has; the others have their defaults, given or not. */
export const settingNames: readonly SettingName[] = allSettingNames.filter((name) => isBuiltWith(settings[name].since))
