import { randomUUID } from 'node:crypto'
import type { Maker } from '../maker.ts'

/** A collection in another, and one that was deleted. */
export const collections: Maker = async ({ workspace, name }) => {
  const outer = await workspace.post('/collections', { name: name('outer') })
  await workspace.post('/collections', { name: name('inner'), parent_collection_id: outer.id })
  const deleted = await workspace.post('/collections', { name: name('deleted collection') })
  await workspace.remove(`/collections/${deleted.id}`)
  await workspace.put(`/collections/${outer.id}`, { name: name('renamed collection') })
  await workspace.get(`/collections/${outer.slug}`)
  await workspace.list('/collections', 2)
}

/** A label of a workspace, one of all workspaces, and one that was deleted. */
export const labels: Maker = async ({ admin, workspace, name }) => {
  const label = await workspace.post('/labels', { name: name('label'), description: 'For the tests.', color_code: '#ff8800' })
  await admin.post('/labels', { name: name('universal') })
  const deleted = await workspace.post('/labels', { name: name('gone') })
  await workspace.remove(`/labels/${deleted.id}`)
  await workspace.put(`/labels/${label.id}`, { description: null, color_code: '#0088ff' })
  await workspace.get(`/labels/${label.id}`)
  await workspace.list('/labels', 2)
}

/** A config with two versions and a credential, the default one, and one that was deleted. */
export const configs: Maker = async ({ client, workspace, name }) => {
  const config = { provider: 'openai', api_key: `sk-${name('config')}`, override_params: { temperature: 0 }, retry: { attempts: 2 } }
  const versioned = await workspace.post('/configs', { name: name('config'), slug: name('config'), config })
  await workspace.put(`/configs/${versioned.slug}`, { config: { ...config, request_timeout: 5000 } })
  await workspace.post('/configs', { name: name('default config'), config: { provider: 'anthropic' }, isDefault: 1 })
  // A key reads another catalogue here with each release that brings a field.
  await client.with(name('nobody')).refused(401, 'GET', '/catalogue/config-schema')
  await workspace.post('/configs/validate', { slug: versioned.slug, config: { provider: 'openai' } })
  const deleted = await workspace.post('/configs', { name: name('deleted config'), config: { provider: 'openai' } })
  await workspace.remove(`/configs/${deleted.slug}`)
  await workspace.get(`/configs/${versioned.slug}`)
  await workspace.list(`/configs/${versioned.slug}/versions`, 2)
  await workspace.list('/configs', 2)
}

/** A purge of answers, of which there may be none. */
export const cache: Maker = async ({ workspace, name }) => {
  await workspace.remove(`/cache?namespace=${name('season')}`)
}

/** The list of breakers, which only failing providers open, and one that there is not. */
export const breakers: Maker = async ({ workspace, name }) => {
  await workspace.list('/breakers', 0)
  await workspace.refused(404, 'DELETE', `/breakers/${name('breaker')}`)
}

/** A request without a credential for its provider. No part of an explanation is stored. */
export const explain: Maker = async ({ workspace }) => {
  await workspace.post('/explain', { path: '/chat/completions', headers: { 'x-service-provider': 'openai' }, body: { model: 'm' } })
}

/** A key without events: events are not stored. */
export const eventStreams: Maker = async ({ client, name }) => {
  await client.with(name('nobody')).refused(401, 'GET', '/events?topics=changes')
}

/** A missing log: a replay of one stores another log. */
export const logReplay: Maker = async ({ workspace }) => {
  await workspace.refused(404, 'POST', `/logs/${randomUUID()}/replay`)
}

/** Prices of the installation, which another release may have newer: they are not stored. */
export const modelConfigs: Maker = async ({ client, name }) => {
  const nobody = client.with(name('nobody'))
  await nobody.refused(401, 'GET', '/model-configs/pricing/openai/gpt-4o')
  await nobody.refused(401, 'GET', '/model-configs/general/openai/gpt-4o')
  await nobody.refused(401, 'GET', '/prices/layers')
  await nobody.refused(401, 'GET', '/catalogue/models')
}

/** A look at missing costs: it is not stored. */
export const costs: Maker = async ({ admin }) => {
  await admin.post('/costs/recompute', { start: '2020-01-01T00:00:00Z', end: '2020-02-01T00:00:00Z' })
}
