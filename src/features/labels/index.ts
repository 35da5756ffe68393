import { feature } from '../../app/feature.ts'
import { Label } from './label.entity.ts'
import { createLabel, deleteLabel, listLabels, readLabel, updateLabel } from './labels.routes.ts'

export { findLabel, labelsOf } from './labels.ts'

/** Names for versions of prompts. */
export const labels = feature({
  id: 'labels',
  since: '1.3.0',
  requires: ['workspaces'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `prompts.${verb}`),
  entities: [Label],
  routes: [createLabel, listLabels, readLabel, updateLabel, deleteLabel],
})
