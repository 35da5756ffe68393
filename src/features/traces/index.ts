import { feature } from '../../app/feature.ts'
import { takeLogTraces, takeLogTracesOfExporter, takeTraces } from './ingest.routes.ts'
import { forgetSpans, trimSpans } from './traces.jobs.ts'
import { listTraces, readTrace } from './traces.routes.ts'

/** Requests and spans of clients that belong together. */
export const traces = feature({
  id: 'traces',
  since: '1.3.0',
  // The columns of the list; tokens of aggregates.
  changes: ['1.3.3', '1.6.1'],
  requires: ['workspaces', 'logs'],
  permissions: ['logs.list', 'logs.view', 'logs.write'],
  entities: [],
  routes: [takeTraces, takeLogTraces, takeLogTracesOfExporter, listTraces, readTrace],
  jobs: [forgetSpans, trimSpans],
})
