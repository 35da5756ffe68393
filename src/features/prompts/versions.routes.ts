import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { toList } from '../../lib/paging.ts'
import { presentPrompt, presentVersion } from './present.ts'
import {
  labelVersionBody,
  makeDefaultBody,
  promptParams,
  promptView,
  versionFilter,
  versionList,
  versionParams,
  versionSorts,
} from './prompt.schema.ts'
import { findPrompt } from './prompts.ts'
import { PromptVersion } from './version.entity.ts'
import { findVersion, labelVersion, publishVersion } from './versions.ts'

const resource = 'prompt'

export const listVersions = route({
  method: 'GET',
  path: '/prompts/:promptId/versions',
  summary: 'List the versions of a prompt',
  permission: 'prompts.read',
  params: promptParams,
  query: versionFilter,
  response: versionList,
})(async ({ em, actor, params, query }) => {
  const prompt = await findPrompt(em, actor, { reference: params.promptId })
  const page = await findPage(em, PromptVersion, { where: { promptId: prompt.id }, query, sorts: versionSorts })
  return toList(page.rows.map(presentVersion), page)
})

export const readVersion = route({
  method: 'GET',
  path: '/prompts/:promptId/versions/:versionId',
  summary: 'Read a version by id or number',
  permission: 'prompts.read',
  params: versionParams,
  response: promptView,
})(async ({ em, actor, params }) => {
  const prompt = await findPrompt(em, actor, { reference: params.promptId })
  return presentPrompt(prompt, await findVersion(em, prompt, params.versionId))
})

export const updateVersion = route({
  method: 'PUT',
  path: '/prompts/:promptId/versions/:versionId',
  summary: 'Give a version a label, or take it away',
  permission: 'prompts.update',
  resource,
  params: versionParams,
  body: labelVersionBody,
  response: z.object({}),
})(async ({ em, actor, params, body, audit }) => {
  const prompt = await findPrompt(em, actor, { reference: params.promptId, forWrite: true })
  const version = await findVersion(em, prompt, params.versionId)
  if (body.label_id !== undefined) await labelVersion(em, prompt, { version, labelId: body.label_id })
  audit({ id: prompt.id, workspaceId: prompt.workspaceId })
  return {}
})

export const makeDefault = route({
  method: 'PUT',
  path: '/prompts/:promptId/makeDefault',
  summary: 'Publish a version of a prompt',
  permission: 'prompts.publish',
  resource,
  representation: '/prompts/:promptId',
  params: promptParams,
  body: makeDefaultBody,
  response: z.object({}),
})(async ({ em, actor, params, body, audit }) => {
  const prompt = await findPrompt(em, actor, { reference: params.promptId, forWrite: true })
  await publishVersion(em, prompt, body.version)
  audit({ id: prompt.id, workspaceId: prompt.workspaceId })
  return {}
})
