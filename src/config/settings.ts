import type { DbSslMode, MailTls, Role } from './config.ts'
import { apiKey, chart, choice, duration, email, integer, list, onOff, release, secret, size, text } from './kinds.ts'
import { allowedHost, databaseHost, headerAlias, host, proxyAddress, publicUrl, trustedHost, webOrigin } from './network.ts'
import { certificates, certificatesSource, privateKey, privateKeySource } from './pem.ts'
import { optional, setting } from './setting.ts'
import { isBuiltWith } from './version.ts'

const KiB = 1024
const MiB = 1024 * KiB
const dbSslModes: readonly DbSslMode[] = ['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY', 'MANAGED']
const mailTls: readonly MailTls[] = ['STARTTLS', 'TLS', 'NONE']
const roles: readonly Role[] = ['gateway', 'control', 'jobs']
const metricsAccess = ['public', 'token', 'off'] as const
const docsAccess = ['public', 'key', 'off'] as const
const chartChecks = ['enforce', 'warn'] as const
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const flag = (what: string, idle = false) =>
  setting(onOff, 'ON', {
    desc: idle ? `${what} Nothing reads it yet, and the start says so when it is given.` : `${what} On unless \`OFF\`.`,
    example: 'OFF',
    since: '1.9.0',
    idle,
  })

/** Every setting, in the order of the documents. Durations are `500ms`, `30s`, `15m`, `1h`, `1d`, or bare milliseconds. */
export const settings = {
  HOST: setting(host, '127.0.0.1', { desc: 'The address to listen on; `0.0.0.0` or `::` for all.', example: '0.0.0.0' }),
  PORT: setting(integer(0, 65_535), '8787', { desc: 'The port to listen on; `0` takes any free one.', example: '8080' }),
  TLS_CERT: optional(certificatesSource, {
    desc: 'The certificate of the port, with its chain, as PEM or path. Given: the port speaks HTTPS only. A file is read again when it changes.',
    example: '/etc/gatehouse/tls/tls.crt',
  }),
  TLS_KEY: optional(privateKeySource, {
    desc: 'The private key of `TLS_CERT`, as PEM or path.',
    example: '/etc/gatehouse/tls/tls.key',
    secret: true,
  }),
  TLS_CA: optional(certificatesSource, {
    desc: 'The authorities of client certificates, as PEM or path. Given: who has no certificate of theirs cannot connect (probes then need `MANAGEMENT_PORT`).',
    example: '/etc/gatehouse/tls/ca.crt',
  }),
  MANAGEMENT_PORT: optional(integer(0, 65_535), {
    desc: 'A second port, plain HTTP without a key, for `/healthz`, `/readyz` and `/metrics`; `/metrics` is then on it alone. Open it to probes and Prometheus only.',
    example: '9090',
  }),
  METRICS_ACCESS: setting(choice(metricsAccess), 'public', {
    desc: 'Who may read `/metrics` on `PORT`: everybody, whoever sends `METRICS_TOKEN`, or nobody.',
    example: 'off',
  }),
  METRICS_TOKEN: optional(apiKey, {
    desc: 'What Prometheus sends as `Authorization: Bearer`, with `METRICS_ACCESS=token`; at least 32 characters.',
    example: 'the output of: openssl rand -hex 32',
    secret: true,
  }),
  DOCS_ACCESS: setting(choice(docsAccess), 'public', {
    desc: 'Who may read `/docs` and `/openapi.json`: everybody, whoever has an API key (a browser asks for it as a password), or nobody.',
    example: 'key',
  }),
  PUBLIC_URL: optional(publicUrl, {
    desc: 'The address under which callers reach Gatehouse, for links in answers and documents. Unset: the address it listens on.',
    example: 'https://gateway.example.com',
  }),
  TRUSTED_PROXIES: setting(list(proxyAddress), '', {
    desc: 'The proxies in front, by address or CIDR, whose `X-Forwarded-*` headers are believed.',
    example: '10.0.0.0/8, 127.0.0.1',
  }),
  DATA_DIR: setting(text(4096), '.data', {
    desc: 'The folder of the embedded database, of the generated encryption key and of log records that wait for the database.',
    example: '/var/lib/gatehouse',
  }),
  DB_HOST: optional(databaseHost, {
    desc: 'The PostgreSQL server (14 or later), or the folder of its unix socket. Unset: an embedded PostgreSQL in `DATA_DIR`, which ignores the other `DB_*` settings but the pool size; a checkout and an evaluation image have one, a released image has none and ends with 78.',
    example: 'db.example.com',
  }),
  DB_PORT: setting(integer(1, 65_535), '5432', { desc: 'The port of PostgreSQL.', example: '5433' }),
  DB_USER: setting(text(63), 'gatehouse', { desc: 'The login; it needs no superuser rights.', example: 'gatehouse' }),
  DB_PASS: optional(secret, { desc: 'The password of the login.', example: 'a long random password', secret: true }),
  DB_NAME: setting(text(63), 'gatehouse', { desc: 'The database.', example: 'gatehouse' }),
  DB_POOL_SIZE: setting(integer(1, 1000), '12', { desc: 'The most connections of one process.', example: '24' }),
  DB_SSL: setting(choice(dbSslModes, { 'Amazon RDS': 'MANAGED', amazon_rds: 'MANAGED' }), 'PREFERRED', {
    desc: 'TLS to PostgreSQL: never; when the server has it; always; with a known authority; with a known authority and the right host name; the last with the authorities of managed databases (also `Amazon RDS`).',
    example: 'VERIFY_IDENTITY',
    since: '1.6.2',
    atEveryLevel: true,
  }),
  DB_SSL_CA: optional(certificates, {
    desc: 'The authorities to believe, as PEM or path. Unset: those that Node knows.',
    example: '/etc/gatehouse/ca.pem',
    since: '1.6.2',
    atEveryLevel: true,
  }),
  DB_SSL_CERT: optional(certificates, {
    desc: 'The client certificate, as PEM or path.',
    example: '/etc/gatehouse/client.pem',
    since: '1.6.2',
    atEveryLevel: true,
  }),
  DB_SSL_KEY: optional(privateKey, {
    desc: 'The private key of the client certificate, as PEM or path.',
    example: '/etc/gatehouse/client.key',
    since: '1.6.2',
    atEveryLevel: true,
    secret: true,
  }),
  ENCRYPTION_KEY: optional(secret, {
    desc: 'The key that encrypts stored credentials: 32 bytes, base64 (`openssl rand -base64 32`). Wrong or malformed: the process starts sealed. Unset: the embedded database makes one in `DATA_DIR`.',
    example: 'the output of: openssl rand -base64 32',
    secret: true,
  }),
  ENCRYPTION_KEY_PREVIOUS: optional(secret, {
    desc: 'Keys that `ENCRYPTION_KEY` takes the place of, as a comma list: what they sealed still opens, until `gatehouse keys rewrap` has sealed it anew.',
    example: 'the value that ENCRYPTION_KEY had before',
    secret: true,
  }),
  TRUSTED_CUSTOM_HOSTS: setting(list(trustedHost), '', {
    desc: 'The hosts that a request may be sent to although they are private: names, `*.suffix`, addresses, CIDRs, each for every port or with one (`10.1.0.7:5432` also opens a port that is refused elsewhere).',
    example: 'ollama.internal:11434, *.svc.cluster.local, 10.1.0.0/16',
  }),
  ALLOWED_CUSTOM_HOSTS: optional(list(allowedHost), {
    desc: 'The hosts that may be named beside the providers of the catalogue, in requests and in what is stored (custom hosts, webhooks, key sets of token issuers): names, `*.suffix`, addresses, CIDRs, each for every port or with one; `stored` stands for every host that is stored, so that requests themselves name none. Private ones need `TRUSTED_CUSTOM_HOSTS` too. Unset: all.',
    example: 'stored, *.llm.example.com, 10.1.0.7:8080',
  }),
  FAILED_CREDENTIALS_PER_MINUTE: setting(integer(0, 1_000_000), '60', {
    desc: 'How many API keys, tokens and invitations that are not good one address may show in a minute (of IPv6 one network of 64 bits), before unknown ones from it are answered 429 unread. Keys that are good are never counted or refused. Behind a proxy give `TRUSTED_PROXIES`, else all clients are one address. `0`: no limit.',
    example: '600',
  }),
  HEADER_ALIASES: setting(list(headerAlias), '', {
    desc: 'Extra header prefixes: `portkey` makes `x-portkey-*` mean `x-service-*`, and answers use the prefix of the caller.',
    example: 'portkey',
  }),
  DEDICATED_VALIDATION: setting(choice(['strict', 'lenient'] as const), 'strict', {
    desc: 'Whether text completions, batches, fine-tuning and threads need a stored credential (`x-service-virtual-key`, or `x-service-provider: @slug`), and `POST /fine_tuning/jobs` its `suffix` and `method`: `strict`. Public clients leave these out: `lenient` lets a provider key of the caller and absent fields pass.',
    example: 'lenient',
  }),
  CORS_ORIGINS: setting(list(webOrigin), '', {
    desc: 'The web pages that may call models from a browser: origins (scheme, host, and port when it is not the usual one), or `*` for all. Unset: none. A page holds its key where its user can read it: give it a key of its own with a budget. The control plane is never open to pages.',
    example: 'https://chat.example.com, http://localhost:3000',
  }),
  INIT_ORG_NAME: setting(text(120), 'Default organisation', {
    desc: 'The name of the organisation that the first start makes.',
    example: 'Example Ltd',
  }),
  INIT_WORKSPACE_NAME: setting(text(120), 'Default workspace', {
    desc: 'The name of the workspace that the first start makes.',
    example: 'Research',
  }),
  INIT_ADMIN_API_KEY: optional(apiKey, {
    desc: 'The first organisation-admin key, of at least 32 characters. Unset: made and printed once at the first start.',
    example: 'the output of: openssl rand -hex 32',
    secret: true,
  }),
  INIT_WORKSPACE_API_KEY: optional(apiKey, {
    desc: 'The first key of the first workspace, of at least 32 characters. Unset: made and printed once at the first start.',
    example: 'the output of: openssl rand -hex 32',
    secret: true,
  }),
  INIT_OWNER_EMAIL: optional(email, {
    desc: 'The e-mail address of the first owner, who is made at a start as long as the first organisation has no owner.',
    example: 'ada@example.com',
  }),
  ROLES: setting(list(choice(roles)), roles.join(','), {
    desc: 'What this process does: forward requests, serve the control plane, run background jobs.',
    example: 'gateway',
  }),
  WORKERS: setting(integer(1, 256), '1', { desc: 'How many processes serve requests.', example: '2' }),
  LOG_LEVEL: setting(choice(logLevels), 'info', { desc: 'The least level that is logged.', example: 'debug' }),
  LOG_FILE: optional(text(4096), {
    desc: 'The file that the log is appended to, in place of standard output. Unset: standard output; but `npm start` at a terminal logs to `gatehouse.log` in `DATA_DIR`, so that the screen stays readable.',
    example: '/var/log/gatehouse.log',
  }),
  LOG_RETENTION_DAYS: setting(integer(1, 3650), '90', { desc: 'After how many days request logs are deleted.', example: '30' }),
  LOG_SEALING: setting(choice(['off', 'on'] as const), 'off', {
    desc: 'Whether bodies, headers, URLs and guardrail results of request logs are sealed (AES-256-GCM, under `ENCRYPTION_KEY`) before they reach the disk: in the files of `DATA_DIR/journal` and in the database. Whoever loses that key loses them; they take more room, since they cannot be compressed.',
    example: 'on',
  }),
  REQUEST_TIMEOUT: setting(duration(1), '600s', {
    desc: 'How long a provider may take until its answer begins, and for a whole answer that is not a stream.',
    example: '120s',
  }),
  CONNECT_TIMEOUT: setting(duration(1), '10s', { desc: 'How long connecting to a provider may take.', example: '3s' }),
  STREAM_IDLE_TIMEOUT: setting(duration(1), '120s', { desc: 'The longest silence within an answer.', example: '30s' }),
  MAX_JSON_PAYLOAD_SIZE_IN_MB: setting(size(MiB, { least: 0.001, most: 1024 }), '10', {
    desc: 'The largest JSON body of a request.',
    example: '25',
  }),
  MAX_UPLOAD_SIZE_IN_MB: setting(size(MiB, { least: 0.001, most: 1_048_576 }), '512', {
    desc: 'The largest body of any other kind.',
    example: '100',
  }),
  MAX_LOG_BODY_SIZE_IN_KB: setting(size(KiB, { least: 0, most: 1_048_576 }), '1024', {
    desc: 'How much of one body a request log keeps; `0` keeps none.',
    example: '64',
  }),
  LOG_SPOOL_MAX_MB: setting(size(MiB, { least: 1, most: 1_048_576 }), '1024', {
    desc: 'How much disk request logs may take while the database is away; beyond it they are dropped, counted and named.',
    example: '4096',
  }),
  CACHE_MAX_STALE: setting(duration(0), '15m', {
    desc: 'How long known keys and providers serve on while the database is away.',
    example: '1h',
  }),
  DRAIN_DELAY: optional(duration(0), {
    desc: 'How long readiness fails before connections close, so that load balancers notice. Unset: `5s`, and `0s` with the embedded database.',
    example: '10s',
  }),
  TERMINATION_GRACE: setting(duration(1), '620s', {
    desc: 'How long requests may finish after a stop signal, the drain delay included.',
    example: '60s',
  }),
  RELEASE_LEVEL: optional(release, {
    desc: 'The release up to which features are on, when that is lower than this build and than what `gatehouse finalize` has reached: to try an upgrade, or to take it back. A new database begins finalized there.',
    example: '1.11.2',
  }),
  DEPLOYMENT_CHART: optional(chart, {
    desc: 'The chart that deployed this process, which sets it. `gatehouse serve` refuses one that is too old for this release, and inside Kubernetes a missing one too.',
    example: 'app-1.6.0',
  }),
  DEPLOYMENT_IMAGE: optional(text(512), {
    desc: 'The image that was deployed, for the release history; the chart sets it.',
    example: 'registry.example.com/gatehouse@sha256:…',
  }),
  DEPLOYMENT_REASON: optional(text(500), {
    desc: 'Why this deployment passes over a release that it had to halt at, or leads to an earlier one, for the release history; the chart sets it.',
    example: 'the volume of 1.4.0 was changed by hand',
  }),
  CHART_CHECK: setting(choice(chartChecks), 'enforce', {
    desc: 'Whether a chart that is too old is refused, or warned of.',
    example: 'warn',
  }),
  SMTP_HOST: optional(host, {
    desc: 'The mail server. Unset: no mail is sent, and invitation links are in answers only.',
    example: 'smtp.example.com',
  }),
  SMTP_PORT: setting(integer(1, 65_535), '587', { desc: 'The port of the mail server.', example: '465' }),
  SMTP_TLS: setting(choice(mailTls), 'STARTTLS', {
    desc: 'TLS to the mail server: demanded after the greeting, from the first byte, or never.',
    example: 'TLS',
  }),
  SMTP_USER: optional(text(320), { desc: 'The login at the mail server.', example: 'gatehouse' }),
  SMTP_PASSWORD: optional(secret, { desc: 'The password of that login.', example: 'a long random password', secret: true }),
  SMTP_FROM: optional(text(500), {
    desc: 'The sender of mails. Unset: `no-reply` at the mail server.',
    example: 'Gatehouse <gatehouse@example.com>',
  }),
  EMAIL_TEMPLATES_PATH: optional(text(4096), {
    desc: 'A folder with mail templates of your own: `user-invite.html` replaces ours.',
    example: '/etc/gatehouse/emails',
    since: '1.4.0',
  }),
  EMAIL_COMPANY_NAME: setting(text(255), 'Gatehouse', { desc: 'The name in mails.', example: 'Example Ltd', since: '1.4.0' }),
  EMAIL_LOGO_URL: optional(publicUrl, { desc: 'The logo in mails.', example: 'https://example.com/logo.png', since: '1.4.0' }),
  EMAIL_SUPPORT_EMAIL: optional(email, { desc: 'Whom mails name for questions.', example: 'help@example.com', since: '1.4.0' }),
  EMAIL_DOCS_URL: optional(publicUrl, {
    desc: 'The documentation that mails link to.',
    example: 'https://docs.example.com',
    since: '1.4.0',
  }),
  GUARDRAILS_ENABLED: flag('Guardrails.'),
  API_ACCESS_ENABLED: flag('Control-plane access with API keys.'),
  DATA_EXPORTS_ENABLED: flag('Exports of request logs.', true),
  USAGE_LIMITS_ENABLED: flag('Usage-limit policies.'),
  AUDIT_LOGS_ENABLED: flag('The audit log.'),
  SCIM_ENABLED: flag('Provisioning of users by SCIM.', true),
  POLICY_ENABLED: flag('Policies.'),
}

export type SettingName = keyof typeof settings

/** The names of all settings, of later releases too, in the order of the documents. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal are exactly its type's keys
export const allSettingNames = Object.keys(settings) as readonly SettingName[]

/** The names of the settings that this build has; the others have their defaults, whatever is given. */
export const settingNames: readonly SettingName[] = allSettingNames.filter((name) => isBuiltWith(settings[name].since))
