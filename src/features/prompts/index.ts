import { feature } from '../../app/feature.ts'
import {
  createPartial,
  deletePartial,
  listPartials,
  listPartialVersions,
  makePartialDefault,
  readPartial,
  updatePartial,
} from './partials.routes.ts'
import { Prompt, PromptPartial } from './prompt.entity.ts'
import { createPrompt, deletePrompt, listPrompts, readPrompt, updatePrompt } from './prompts.routes.ts'
import { renderPrompt } from './render.routes.ts'
import { PartialVersion, PromptVersion } from './version.entity.ts'
import { listVersions, makeDefault, readVersion, updateVersion } from './versions.routes.ts'
import { promptView } from './prompt.view.ts'

/** Templates with versions, and the partials that they include. */
export const prompts = feature({
  id: 'prompts',
  since: '1.3.0',
  // Labels that no version carries any more are free; `patch` fills a new version from the latest.
  changes: ['1.3.2', '1.11.2'],
  requires: ['collections', 'labels', 'providers'],
  permissions: ['create', 'read', 'update', 'delete', 'list', 'publish', 'render'].map((verb) => `prompts.${verb}`),
  entities: [Prompt, PromptVersion, PromptPartial, PartialVersion],
  // `/prompts/partials` comes before `/prompts/:promptId`, which has the same shape.
  routes: [
    createPartial,
    listPartials,
    readPartial,
    updatePartial,
    deletePartial,
    listPartialVersions,
    makePartialDefault,
    createPrompt,
    listPrompts,
    readPrompt,
    updatePrompt,
    deletePrompt,
    listVersions,
    readVersion,
    updateVersion,
    makeDefault,
    renderPrompt,
  ],
  views: { prompt: promptView },
})
