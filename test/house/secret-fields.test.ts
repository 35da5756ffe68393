import test from 'ava'
import { z } from 'zod'
import { features } from '../../src/features/index.ts'
import { formsAt, type Forms, isSecretForm } from '../../src/lib/json/secret-fields.ts'
import { partsOf } from '../../src/release/schema-parts.ts'

/** The names under which a reader expects a secret. */
const soundsSecret =
  /key|token|secret|passw|passphrase|passkey|jwk|jwt|private|credential|dsn|webhook|url|uri|endpoint|authori[sz]|headers$|certificate|cookie|signature|saml|pem$|_json$|^code$|^state$|^auth/i

/** The fields that sound like secrets and are none, and the reason. */
const harmless: Readonly<Record<string, string>> = {
  allowed_custom_hosts: 'Hosts that requests may go to.',
  amz_server_side_encryption_aws_kms_key_id: 'The id of a key, not the key.',
  api_key_ids: 'Ids.',
  api_key_ids_not: 'Ids.',
  auth_config: 'Its secrets are marked one by one.',
  authorization_endpoint: 'The egress takes no user and no password in a URL, and the endpoints of a provider are public.',
  aws_access_key_id: 'The name of a key; its secret is a field of its own. The trail hides it too, by its name.',
  aws_s3_object_key: 'The path of an object.',
  azure_endpoint_name: 'The name of a deployment.',
  azure_foundry_url: 'The address of a resource, without a user, a password and a query.',
  base_url: 'The address of a partner, without a user and a password; its credentials are a field of their own.',
  end_session_endpoint: 'As `authorization_endpoint`.',
  forward_headers: 'Names of headers.',
  huggingface_base_url: 'The address of a deployment, without a user and a password.',
  jwks: 'Public keys; the private members of one are hidden by its form.',
  jwks_uri: 'As `authorization_endpoint`.',
  jwks_url: 'As `authorization_endpoint`.',
  jwt: 'The settings by which tokens are checked.',
  keys: 'Public keys; the private members of one are hidden by its form.',
  metadataKey: 'The name of a metadata field.',
  metadata_keys: 'Names of metadata fields.',
  api_key_metadata_keys: 'Names of metadata fields.',
  workspace_metadata_keys: 'Names of metadata fields.',
  passkeyId: 'An id.',
  post_logout_redirect_uri: 'A page for browsers.',
  secretReferenceId: 'An id.',
  secret_key: 'The name of a field of a secret.',
  secret_path: 'The path of a secret at its manager.',
  secret_mappings: 'Ids and names of fields.',
  secret_reference_id: 'An id.',
  secret_version: 'The id of a version.',
  sp_certificate: 'A certificate without its key: the metadata shows it to everybody.',
  tag_keys: 'Names of tags.',
  tokenId: 'An id.',
  token_endpoint: 'As `authorization_endpoint`.',
  token_id: 'An id.',
  token_type_hint: 'The kind of a token.',
  uri: 'The path of a request to this API.',
  user_api_key_config: 'The slug of a config.',
  userinfo_endpoint: 'As `authorization_endpoint`.',
  virtual_key: 'A slug.',
  virtual_keys: 'Slugs.',
  virtual_keys_not: 'Slugs.',
  webhookId: 'An id.',
}

/** The same, by the end of the place: the name alone stands for secrets elsewhere. */
const harmlessAt: Readonly<Record<string, string>> = {
  'DELETE /cache query.key': 'The hash of a request, which answers show.',
  'POST /mcp-integrations body.url': 'The address of a server, without a user, a password and a query.',
  'PUT /mcp-integrations/:mcpIntegrationId body.url': 'The same.',
  'body.request.url': 'The log keeps it without a user, a password and the values of its query.',
  '.attributes.key': 'The name of an attribute.',
  '.status.code': 'The outcome of a span.',
  '.conditions.key': 'The name of the thing to look at.',
  '.group_by.key': 'The name of the thing to look at.',
}

interface Field {
  readonly name: string
  readonly place: string
  readonly schema: z.core.$ZodType
  /** True if a schema above it is marked. */
  readonly within: boolean
}

const isHarmless = ({ name, place }: Field) => name in harmless || Object.keys(harmlessAt).some((end) => place.endsWith(end))

const routes = features.flatMap(({ routes: own, protocols = [] }) => own.concat(protocols.flatMap((protocol) => protocol.routes)))

function fieldsOf(schema: z.core.$ZodType, place: string): readonly Field[] {
  const found: Field[] = []
  const visit = (part: z.core.$ZodType, at: string, { within, above }: { within: boolean; above: ReadonlySet<unknown> }) => {
    if (above.has(part)) return
    const marked = within || isSecretForm([part])
    for (const { schema: inner, field } of partsOf(part)) {
      const path = field === null ? at : `${at}.${field}`
      if (field !== null) found.push({ name: field, place: path, schema: inner, within: marked })
      visit(inner, path, { within: marked, above: new Set([...above, part]) })
    }
  }
  visit(schema, place, { within: false, above: new Set() })
  return found
}

const fields = routes.flatMap(({ method, path, params, query, body }) =>
  Object.entries({ params, query, body }).flatMap(([kind, schema]) =>
    schema === undefined ? [] : fieldsOf(schema, `${method} ${path} ${kind}`),
  ),
)

const texts: ReadonlySet<string> = new Set(['string', 'unknown', 'any', 'record', 'template_literal'])

/** Returns true if a value of the schema may be, or contain under any name, a text. */
function holdsText(schema: z.core.$ZodType, above: ReadonlySet<unknown> = new Set()): boolean {
  if (above.has(schema)) return false
  if (texts.has(schema._zod.def.type)) return true
  return partsOf(schema).some(({ schema: inner, field }) => field === null && holdsText(inner, new Set([...above, schema])))
}

test('a field that sounds like a secret is marked as one in its schema, or stands on the list of those that are none', (t) => {
  t.true(fields.length > 3000)
  const open = fields.filter(
    (field) =>
      soundsSecret.test(field.name) && holdsText(field.schema) && !field.within && !isSecretForm([field.schema]) && !isHarmless(field),
  )
  t.deepEqual([...new Set(open.map(({ place }) => place))].toSorted(), [])
})

test('the list names only fields that are there, and none that is marked everywhere', (t) => {
  const unmarked = new Set(fields.filter(({ schema, within }) => !within && !isSecretForm([schema])).map(({ name }) => name))
  t.deepEqual(
    Object.keys(harmless).filter((name) => !unmarked.has(name)),
    [],
  )
  t.deepEqual(
    Object.keys(harmlessAt).filter((end) => !fields.some(({ place }) => place.endsWith(end))),
    [],
  )
})

test('a mark is found through optional, nullable, default, union, pipe, lazy and record', (t) => {
  const marked = z.string().meta({ writeOnly: true })
  const cases: Readonly<Record<string, Forms>> = {
    optional: [marked.optional()],
    nullable: [marked.nullable()],
    default: [marked.default('x')],
    union: [z.union([z.number(), marked])],
    pipe: [z.preprocess((value) => value, marked)],
    described: [marked.meta({ description: 'x' })],
    refined: [marked.refine(() => true)],
    lazy: [z.lazy(() => marked)],
    record: formsAt([z.record(z.string(), marked)], 'any'),
    list: formsAt([z.array(marked)], 3),
    catchall: formsAt([z.object({}).catchall(marked)], 'any'),
    intersection: formsAt([z.object({}).and(z.object({ a: marked }))], 'a'),
  }
  for (const [name, forms] of Object.entries(cases)) t.true(isSecretForm(forms), name)
  t.false(isSecretForm([z.string().optional()]))
})
