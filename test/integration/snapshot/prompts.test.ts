import { randomUUID } from 'node:crypto'
import test from 'ava'
import { renderPrompt, type Prompt } from '../../../src/gateway/prompts/prompt.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { eventually, setStage, type Stage } from './setup.ts'

let stage: Stage
test.before(async () => {
  stage = await setStage()
})
test.after.always(() => stage.close())

const scope = () => ({ organisationId: stage.organisationId, workspaceId: stage.workspaceId })

async function addPrompt(slug: string, ...texts: readonly string[]): Promise<string> {
  const id = randomUUID()
  await stage.sql.query(
    `INSERT INTO prompts (id, organisation_id, workspace_id, collection_id, slug, name, latest_version)
     SELECT $1, organisation_id, id, (SELECT id FROM collections WHERE workspace_id = w.id), $3, $3, $4 FROM workspaces w WHERE id = $2`,
    [id, stage.workspaceId, slug, texts.length],
  )
  for (const [at, text] of texts.entries()) await addVersion(id, at + 1, text)
  return id
}

const addVersion = (id: string, version: number, text: string) =>
  stage.sql.query(
    `INSERT INTO prompt_versions (id, organisation_id, workspace_id, prompt_id, version, string, virtual_key)
     SELECT gen_random_uuid(), organisation_id, workspace_id, id, $2, $3, 'vk' FROM prompts WHERE id = $1`,
    [id, version, text],
  )

async function addPartial(slug: string, text: string): Promise<string> {
  const id = randomUUID()
  await stage.sql.query(
    `INSERT INTO prompt_partials (id, organisation_id, workspace_id, collection_id, slug, name)
     SELECT $1, organisation_id, id, (SELECT id FROM collections WHERE workspace_id = w.id), $3, $3 FROM workspaces w WHERE id = $2`,
    [id, stage.workspaceId, slug],
  )
  await addPartialVersion(id, 1, text)
  return id
}

const addPartialVersion = (id: string, version: number, text: string) =>
  stage.sql.query(
    `INSERT INTO prompt_partial_versions (id, organisation_id, workspace_id, prompt_partial_id, version, string)
     SELECT gen_random_uuid(), organisation_id, workspace_id, id, $2, $3 FROM prompt_partials WHERE id = $1`,
    [id, version, text],
  )

const labelId = async (name: string): Promise<string> =>
  String((await stage.sql.query<{ id: string }>('SELECT id FROM labels WHERE name = $1', [name])).rows[0]?.id)

const said = (prompt: Prompt | null) =>
  prompt === null ? null : (renderPrompt(prompt, { variables: { x: 'X' } })['messages'] as { content: string }[])[0]?.content

test.serial('a prompt is loaded once and then a synchronous hit', async (t) => {
  const id = await addPrompt('pp-hit', 'one {{x}}', 'two')
  const snapshot = stage.snapshot()
  const first = snapshot.prompt(scope(), 'pp-hit')
  t.true(first instanceof Promise)
  const prompt = await first
  t.like(prompt, { id, slug: 'pp-hit', version: 1, virtualKey: 'vk' })
  t.is(said(prompt), 'one X')
  t.is(snapshot.prompt(scope(), 'pp-hit'), prompt)
  for (const reference of ['pp-hit@latest', 'pp-hit@2', `${id}@2`, `${id.toUpperCase()}@2`])
    t.is(said(await snapshot.prompt(scope(), reference)), 'two', reference)
  for (const reference of ['pp-hit@3', 'pp-hit@staging', 'pp-never', 'a b', '@', 'x'.repeat(600)]) {
    t.is(await snapshot.prompt(scope(), reference), null, reference.slice(0, 20))
    t.is(snapshot.prompt(scope(), reference), null)
  }
  t.is(await snapshot.prompt({ ...scope(), workspaceId: randomUUID() }, 'pp-hit'), null)
  t.is(await snapshot.prompt({ organisationId: randomUUID(), workspaceId: null }, 'pp-hit'), null)
  t.is(said(await snapshot.prompt({ ...scope(), workspaceId: null }, 'pp-hit')), 'one X')
})

/** Changes of the target of a reference, each visible within a second in every process. */
const changes: readonly (readonly [
  name: string,
  text: string,
  reference: string,
  change: (id: string, partial: string) => Promise<unknown>,
  after: string | null,
])[] = [
  ['a version is published', 'one', '', (id) => stage.sql.query('UPDATE prompts SET published_version = 2 WHERE id = $1', [id]), 'second'],
  [
    'a version is added',
    'one',
    '@latest',
    async (id) => {
      await addVersion(id, 3, 'third')
      await stage.sql.query('UPDATE prompts SET latest_version = 3 WHERE id = $1', [id])
    },
    'third',
  ],
  [
    'a label is set',
    'one',
    '@production',
    async (id) =>
      stage.sql.query('UPDATE prompt_versions SET label_id = $2 WHERE prompt_id = $1 AND version = 2', [id, await labelId('production')]),
    'second',
  ],
  ['a version with a number comes', 'one', '@3', (id) => addVersion(id, 3, 'third'), 'third'],
  ['the prompt is deleted', 'one', '', (id) => stage.sql.query(`UPDATE prompts SET status = 'archived' WHERE id = $1`, [id]), null],
  [
    'a partial is published',
    '{{>PARTIAL}}',
    '',
    async (_, partial) => {
      await addPartialVersion(partial, 2, 'new')
      await stage.sql.query('UPDATE prompt_partials SET published_version = 2 WHERE id = $1', [partial])
    },
    'new',
  ],
]
for (const [at, [name, text, suffix, change, after]] of changes.entries())
  test.serial(`within a second of the change: ${name}`, async (t) => {
    const snapshot = stage.snapshot()
    const partial = await addPartial(`pp-change-${at}`, 'old')
    const id = await addPrompt(`pp-changes-${at}`, text.replace('PARTIAL', `pp-change-${at}`), 'second')
    const reference = `pp-changes-${at}${suffix}`
    const before = said(await snapshot.prompt(scope(), reference))
    t.not(before, after)
    await change(id, partial)
    await eventually(async () => said(await snapshot.prompt(scope(), reference)) === after, 1000)
    t.pass()
  })

test.serial('a label that moves, or is renamed, takes its reference with it', async (t) => {
  const snapshot = stage.snapshot()
  const id = await addPrompt('pp-moving', 'one', 'two')
  const label = randomUUID()
  await stage.sql.query('INSERT INTO labels (id, organisation_id, workspace_id, name) VALUES ($1, $2, $3, $4)', [
    label,
    stage.organisationId,
    stage.workspaceId,
    'blue',
  ])
  const put = (version: number) =>
    stage.sql.query('UPDATE prompt_versions SET label_id = CASE WHEN version = $2 THEN $3::uuid END WHERE prompt_id = $1', [
      id,
      version,
      label,
    ])
  await put(1)
  t.is(said(await snapshot.prompt(scope(), 'pp-moving@blue')), 'one')
  await stage.sql.query('UPDATE prompt_versions SET label_id = NULL WHERE prompt_id = $1', [id])
  await put(2)
  await eventually(async () => said(await snapshot.prompt(scope(), 'pp-moving@blue')) === 'two', 1000)
  await stage.sql.query(`UPDATE labels SET name = 'green' WHERE id = $1`, [label])
  await eventually(async () => (await snapshot.prompt(scope(), 'pp-moving@blue')) === null, 1000)
  t.is(said(await snapshot.prompt(scope(), 'pp-moving@green')), 'two')
})

test.serial('a partial that is missing is waited for', async (t) => {
  const snapshot = stage.snapshot()
  await addPrompt('pp-waiting', '<{{>pp-awaited}}>')
  const prompt = await snapshot.prompt(scope(), 'pp-waiting')
  t.throws(() => said(prompt), { instanceOf: ApiError, message: 'Missing prompt partials: pp-awaited.' })
  t.is(snapshot.prompt(scope(), 'pp-waiting'), prompt)
  await addPartial('pp-awaited', '{{x}}')
  await eventually(async () => (await snapshot.prompt(scope(), 'pp-waiting')) !== prompt, 1000)
  t.is(said(await snapshot.prompt(scope(), 'pp-waiting')), '<X>')
})

test.serial('while the database is away, what is held serves, and the rest is a 503', async (t) => {
  const snapshot = stage.snapshot()
  await addPrompt('pp-held', 'held')
  await snapshot.prompt(scope(), 'pp-held')
  stage.proxy.cut()
  t.is(said(await snapshot.prompt(scope(), 'pp-held')), 'held')
  await t.throwsAsync(async () => snapshot.prompt(scope(), 'pp-other'), { instanceOf: ApiError, code: 'dependency_unavailable' })
  stage.proxy.heal()
})
