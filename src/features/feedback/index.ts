import { feature } from '../../app/feature.ts'
import { Feedback } from './feedback.entity.ts'
import { trimFeedback } from './feedback.jobs.ts'
import { createFeedback, updateFeedback } from './feedback.routes.ts'

/** Callers rate answers. */
export const feedback = feature({
  id: 'feedback',
  since: '1.3.0',
  requires: ['workspaces'],
  permissions: ['feedbacks.write'],
  entities: [Feedback],
  routes: [createFeedback, updateFeedback],
  jobs: [trimFeedback],
})
