import type { Caller } from '../client.ts'
import type { Maker, Making } from '../maker.ts'
import { storeProvider } from './stored.ts'

/** A check that requests have this metadata. */
const required = (metadata: string) => ({ id: 'default.requiredMetadataKeys', parameters: { metadataKeys: [metadata], operator: 'all' } })

/** A guardrail of a workspace that denies a request, one that the organisation has for all requests, and one that was deleted. */
export const guardrails: Maker = async (making) => {
  const { admin, workspace, name } = making
  const denying = await addGuardrail(workspace, { name: name('denying'), checks: [required('nobody')], actions: { deny: true } })
  await workspace.put(`/guardrails/${denying}`, { checks: [required('somebody')], actions: { onFail: 'block', message: 'No.' } })
  await workspace.get(`/guardrails/${denying}`)
  await workspace.get('/catalogue/checks?id=default.notNull')
  await workspace.post('/guardrails/test', { guardrail: denying, text: 'Say hello.' })
  await workspace.post('/guardrails/test', { guardrail: denying, logs: { trace_id: name('no-such-trace') } })
  await (await guarded(making, denying)).refused(446, 'GET', '/echo/guardrail')
  const ofAll = await addGuardrail(admin, { name: name('of-all'), checks: [required('team')], actions: { deny: false, async: true } })
  await admin.put(`/guardrails/${ofAll}`, { name: name('renamed guardrail') })
  await admin.put('/admin/organisation/defaults', { input_guardrails: [ofAll] })
  await admin.get('/admin/organisation/defaults')
  const deleted = await addGuardrail(workspace, { name: name('deleted'), checks: [required('team')], actions: { onFail: 'log' } })
  await workspace.remove(`/guardrails/${deleted}`)
  await admin.list('/guardrails', 2)
}

/** Credentials of partners: two workspaces' own, which stay, and the organisation's, of which there can be no second when they are asked for again. */
export const plugins: Maker = async ({ admin, name, providerUrl }) => {
  const store = async (more: object) => admin.post('/plugins', { plugin: 'mistral', credentials: { apiKey: 'a-key-to-keep' }, ...more })
  const ofWorkspace = async (noun: string) => store({ workspace_id: (await admin.post('/admin/workspaces', { name: name(noun) })).slug })
  const { id } = await ofWorkspace('scanned')
  await ofWorkspace('scanned too')
  await admin.put(`/plugins/${id}`, { base_url: providerUrl, credentials: { apiKey: 'another-key' } })
  const deleted = await store({})
  await admin.remove(`/plugins/${deleted.id}`)
  await admin.get(`/plugins/${id}`)
  await admin.list('/plugins', 2)
}

/** A guardrail with one check of a kind, and a request that it lets through. */
export const guardrailKind =
  (check: string, parameters: Readonly<Record<string, unknown>>): Maker =>
  async (making) => {
    const slug = await addGuardrail(making.workspace, {
      name: making.name(check.replace('.', '-')),
      checks: [{ id: check, parameters }],
      actions: { onFail: 'block' },
    })
    await making.workspace.get(`/guardrails/${slug}`)
    const messages = [{ role: 'user', content: 'Say hello.' }]
    await (await guarded(making, slug)).post('/chat/completions', { model: 'gpt-4o', messages })
  }

/** A guardrail with a check that asks a partner; it stands where the provider is, cannot answer, and lets the request through. */
export const partnerKind =
  (check: string, parametersAt: (url: string) => Readonly<Record<string, unknown>>): Maker =>
  (making) =>
    guardrailKind(check, { ...parametersAt(making.providerUrl), baseUrl: making.providerUrl, on_error: 'allow' })(making)

const addGuardrail = async (caller: Caller, guardrail: Readonly<Record<string, unknown>>): Promise<string> =>
  (await caller.post('/guardrails', guardrail)).slug

/** The data plane behind a guardrail, with a provider of its own. */
async function guarded(making: Making, guardrail: string): Promise<Caller> {
  const slug = `${guardrail}-provider`
  await storeProvider(making, slug)
  const { client, workspaceKey } = making
  return client.through(workspaceKey, `@${slug}`, { 'x-service-config': JSON.stringify({ input_guardrails: [guardrail] }) })
}
