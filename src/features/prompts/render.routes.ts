import { notFound } from '../../app/database/find.ts'
import { route } from '../../app/route.ts'
import { renderPrompt as render } from '../../gateway/ports/prompts.ts'
import { askThrough } from './ask.ts'
import { readPrompt } from './prompt.view.ts'
import { promptParams, renderBody, renderedPrompt } from './prompt.schema.ts'

export const renderPrompt = route({
  method: 'POST',
  path: '/prompts/:promptId/render',
  summary: 'Fill a prompt with variables, without calling a provider',
  permission: 'prompts.render',
  audience: 'programs',
  resource: 'prompt',
  effect: 'none',
  params: promptParams,
  body: renderBody,
  response: renderedPrompt,
})(async ({ em, actor, params, body }) => {
  const found = await readPrompt(askThrough(em), actor, params.promptId)
  if (found === null) throw notFound('prompt', params.promptId, 'promptId')
  return { success: true as const, data: renderedPrompt.shape.data.parse(render(found.view, body)) }
})
