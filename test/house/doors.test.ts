import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'

const root = path.resolve(import.meta.dirname, '../..')

/** How bytes are read: whole by the platform or a package, or one after the other by code of ours. */
const reads =
  /JSON\.parse\(|new TextDecoder|(?:unzip|inflate|inflateRaw|brotliDecompress|zstdDecompress)(?:Sync)?\b|create(?:Gunzip|Inflate|BrotliDecompress)\(|from 'yaml'|from '@xmldom|\.charCodeAt\(|\.codePointAt\(|\.lastIndex\b|\.indexOf\([^)]*, \w+/

/** Inputs from outside at runtime; the command line and the making of releases read files of the operator. */
const rooms = ['src/app', 'src/features', 'src/gateway', 'src/lib']

const own = 'reads what Gatehouse has written itself'
const writes = 'writes, and reads nothing of others'
const whole = 'gives a whole text of bounded length to JSON.parse, whose time is in proportion'
const codec = 'a codec of the platform, whose output is bounded'
const steps = 'looks for one mark after the other, each from the place of the last'
const operator = 'reads files of the operator or of the release'

/** Files that read bytes and are no part of a door in test/support/doors, each with the reason. */
const known: Readonly<Record<string, string>> = {
  'src/app/audit/write.ts': own,
  'src/app/cache/sealed-answers.ts': own,
  'src/app/database/embedded/binaries.ts': operator,
  'src/app/database/embedded/cluster.ts': own,
  'src/app/database/schema/sql-statements.ts': operator,
  'src/app/events/notice.ts': own,
  'src/app/http/console-files.ts': own,
  'src/app/http/routes/etag.ts': own,
  'src/app/http/routes/idempotency.ts': own,
  'src/app/http/routes/protocols.ts': writes,
  'src/app/journal/byte-writer.ts': writes,
  'src/app/journal/log-words.ts': codec,
  'src/app/journal/open-exporter.ts': own,
  'src/app/level/release-records.ts': operator,
  'src/app/log-store/log-object.ts': own,
  'src/app/log-store/log-store-worker.ts': own,
  'src/app/logging/screen.ts': operator,
  'src/app/mail/outbox.ts': own,
  'src/app/openapi/examples.ts': operator,
  'src/app/managed/batch-seals.ts': own,
  'src/app/stored-responses/stored-responses.ts': own,
  'src/features/analytics/groups.queries.ts': own,
  'src/features/auth/factors/webauthn.ts': whole,
  'src/features/configs/config.view.ts': own,
  'src/features/configs/configs.ts': own,
  'src/features/explain/explain.routes.ts': whole,
  'src/features/guardrails/guardrail.view.ts': own,
  'src/features/guardrails/guardrails.ts': own,
  'src/features/identity-providers/client.ts': whole,
  'src/features/identity-providers/examine/oidc.ts': whole,
  'src/features/identity-providers/provider.routes.ts': own,
  'src/features/identity-providers/test-provider.ts': whole,
  'src/features/integrations/configuration-fields.ts': whole,
  'src/features/integrations/credential.ts': own,
  'src/features/mcp-connections/clients.ts': own,
  'src/features/mcp-connections/requests.ts': own,
  'src/features/mcp-integrations/mcp-integrations.ts': own,
  'src/features/mcp-tokens/contents.ts': own,
  'src/features/mcp-sign-ins/client-documents.ts': whole,
  'src/features/mcp-sign-ins/open-requests.ts': own,
  'src/features/mcp-sign-ins/storage.ts': own,
  'src/features/log-exports/file.ts': writes,
  'src/features/log-exports/parquet.ts': own,
  'src/features/logs/log-filters.ts': whole,
  'src/features/logs/present-body.ts': codec,
  'src/features/logs/search-bodies.ts': writes,
  'src/features/logs/searched-bodies.ts': codec,
  'src/features/plugins/plugin.view.ts': own,
  'src/features/references/index.ts': own,
  'src/features/secret-references/mapped-secrets.ts': own,
  'src/features/sso/journey.ts': own,
  'src/features/sso/trial/trial.ts': own,
  'src/features/traces/span-nodes.ts': own,
  'src/gateway/answers/plain-stream.ts': codec,
  'src/gateway/cache/embed.ts': whole,
  'src/gateway/checks/default/contains.ts': steps,
  'src/gateway/checks/default/jwt-introspection.ts': whole,
  'src/gateway/checks/default/webhook.ts': whole,
  'src/gateway/checks/json-schema/keywords.ts': steps,
  'src/gateway/checks/partners/qualifire.ts': whole,
  'src/gateway/checks/request-body.ts': whole,
  'src/gateway/checks/try-guardrail.ts': own,
  'src/gateway/dialects/embeddings/vector-turner.ts': steps,
  'src/gateway/dialects/google/partial-args.ts': steps,
  'src/gateway/dialects/google/signature.ts': whole,
  'src/gateway/dialects/tool-calls.ts': writes,
  'src/gateway/egress/proxy-connect.ts': steps,
  'src/gateway/front/metadata.ts': whole,
  'src/gateway/journal/confidential.ts': own,
  'src/gateway/journal/owner.ts': own,
  'src/gateway/journal/reader.ts': own,
  'src/gateway/journal/record.ts': own,
  'src/gateway/key-sets/jwks.ts': whole,
  'src/gateway/models/test-provider.ts': whole,
  'src/gateway/providers/endpoint.ts': operator,
  'src/gateway/targets/azure-deployment.ts': whole,
  'src/gateway/wire/edit-body.ts': own,
  'src/lib/access/set-from-above.ts': own,
  'src/lib/api-key.ts': steps,
  'src/lib/json/json-writer.ts': writes,
  'src/lib/json/many-values.ts': steps,
  'src/lib/text/first-segment.ts': writes,
  'src/lib/text/inflate.ts': codec,
  'src/gateway/mcp/upstream/facts.ts': steps,
  'src/lib/text/known-secrets.ts': steps,
  'src/lib/text/secret-forms.ts': writes,
  'src/lib/text/tags.ts': whole,
}

const imported = (file: string, text: string): readonly string[] =>
  [...text.matchAll(/from '(\.[^']+\.ts)'/g)].map(([, name = '']) => path.join(path.dirname(file), name))

const read = (file: string): Promise<string> => readFile(path.join(root, file), 'utf8')

/** The files that doors take, and those that these are made of. */
async function filesOfDoors(): Promise<ReadonlySet<string>> {
  const folder = 'test/support/doors'
  const harness = (await readdir(path.join(root, folder))).map((name) => `${folder}/${name}`)
  const taken = (await Promise.all(harness.map(async (file) => imported(file, await read(file))))).flat()
  const readersOfDoors = taken.filter((file) => file.startsWith('src/'))
  const parts = await Promise.all(readersOfDoors.map(async (file) => imported(file, await read(file))))
  return new Set([...readersOfDoors, ...parts.flat()])
}

async function readers(): Promise<readonly string[]> {
  const names = await Promise.all(
    rooms.map(async (room) => (await readdir(path.join(root, room), { recursive: true })).map((name) => `${room}/${name}`)),
  )
  const files = names.flat().filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(files.map(async (file) => [file, await read(file)] as const))
  return texts.filter(([, text]) => reads.test(text)).map(([file]) => file)
}

test('each file that reads bytes is measured as a door, or says why it need not be', async (t) => {
  const [doors, files] = [await filesOfDoors(), await readers()]
  t.true(files.length > 80)
  const missing = files.filter((file) => !doors.has(file) && !Object.hasOwn(known, file))
  t.deepEqual(missing, [], 'make it a door in test/support/doors, or give the reason here')
  const stale = Object.keys(known).filter((file) => doors.has(file) || !files.includes(file))
  t.deepEqual(stale, [], 'it is a door now, or reads no bytes: take it out')
})

/** Files in which such a run is short, since Gatehouse has written it itself, or begins with a mark that it does not hold. */
const shortTexts: ReadonlySet<string> = new Set([
  'src/app/http/listener/client-address.ts',
  'src/app/prices/layer-sources.ts',
  'src/features/alerts/alert-mail.ts',
  'src/features/log-exports/focus/decimals.ts',
  'src/features/policies/policy.view.ts',
  'src/gateway/limits/refusal.ts',
  'src/gateway/limits/written-limits.ts',
  'src/lib/text/secret-forms.ts',
  'src/lib/text/slug.ts',
])

test('no expression looks for a run at the end of a text of any length: it begins anew at each place of the run', async (t) => {
  const atEnd = /[/|](?:\\.\??|\[[^\]\n]+\]|[^\\/^[()\n])*(?:\\.|\[[^\]\n]+\]|[^\\/^[()\n])\+\$\/[a-z]*[,)]/
  const found: string[] = []
  for (const room of rooms)
    for (const file of await readdir(path.join(root, room), { recursive: true })) {
      const name = `${room}/${file}`
      if (!file.endsWith('.ts') || shortTexts.has(name)) continue
      const text = await readFile(path.join(root, name), 'utf8')
      if (text.split('\n').some((line) => /\.replace(?:All)?\(/.test(line) && atEnd.test(line) && !/\/\^[^|]*\$\//.test(line)))
        found.push(name)
    }
  t.deepEqual(found, [], 'withoutEnd of src/lib/text/without-end.ts does it in linear time')
})
