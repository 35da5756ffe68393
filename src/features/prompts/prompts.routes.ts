import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { toList, usualSorts } from '../../lib/paging.ts'
import { liveRows } from './library.ts'
import { presentPrompt, presentSummary } from './present.ts'
import { Prompt } from './prompt.entity.ts'
import {
  createdPrompt,
  createPromptBody,
  promptFilter,
  promptList,
  promptParams,
  promptView,
  updatedPrompt,
  updatePromptBody,
} from './prompt.schema.ts'
import { addPrompt, archivePrompt, changePrompt, findPrompt, findPromptVersion, publishedModels } from './prompts.ts'

const resource = 'prompt'

export const createPrompt = route({
  method: 'POST',
  path: '/prompts',
  summary: 'Store a prompt',
  permission: 'prompts.create',
  resource,
  body: createPromptBody,
  response: createdPrompt,
})(async ({ em, actor, body, audit }) => {
  const [prompt, version] = await addPrompt(em, actor, body)
  audit({ id: prompt.id, workspaceId: prompt.workspaceId })
  return { id: prompt.id, slug: prompt.slug, version_id: version.id, object: 'prompt' as const }
})

export const listPrompts = route({
  method: 'GET',
  path: '/prompts',
  summary: 'List prompts, without their templates',
  permission: 'prompts.list',
  query: promptFilter,
  response: promptList,
})(async ({ em, actor, query }) => {
  const where = await liveRows(em, actor, query)
  const page = await findPage(em, Prompt, { where, query, sorts: usualSorts })
  const models = await publishedModels(em, page.rows)
  return toList(
    page.rows.map((row) => presentSummary(row, models.get(row.id) ?? null)),
    page,
  )
})

export const readPrompt = route({
  method: 'GET',
  path: '/prompts/:promptId',
  summary: 'Read a prompt with its published version, or another by a suffix',
  permission: 'prompts.read',
  params: promptParams,
  response: promptView,
})(async ({ em, actor, params }) => presentPrompt(...(await findPromptVersion(em, actor, params.promptId))))

export const updatePrompt = route({
  method: 'PUT',
  path: '/prompts/:promptId',
  summary: 'Change a prompt, or add a version to it',
  permission: 'prompts.update',
  resource,
  params: promptParams,
  body: updatePromptBody,
  response: updatedPrompt,
})(async ({ em, actor, params, body, audit }) => {
  const prompt = await findPrompt(em, actor, { reference: params.promptId, forWrite: true })
  const version = await changePrompt(em, actor, { prompt, body })
  audit({ id: prompt.id, workspaceId: prompt.workspaceId })
  return { id: prompt.id, slug: prompt.slug, prompt_version_id: version.id }
})

export const deletePrompt = route({
  method: 'DELETE',
  path: '/prompts/:promptId',
  summary: 'Delete a prompt; requests that name it fail at once',
  permission: 'prompts.delete',
  resource,
  params: promptParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const prompt = await findPrompt(em, actor, { reference: params.promptId, forWrite: true })
  await archivePrompt(em, prompt)
  audit({ id: prompt.id, workspaceId: prompt.workspaceId })
  return {}
})
