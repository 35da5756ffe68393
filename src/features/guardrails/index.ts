import { feature } from '../../app/feature.ts'
import { guardrailScopes } from './access.ts'
import { GuardrailEntity } from './guardrail.entity.ts'
import { createGuardrail, deleteGuardrail, listGuardrails, readGuardrail, updateGuardrail } from './guardrails.routes.ts'
import { listChecks, testGuardrail } from './trial.routes.ts'
import { guardrailView } from './guardrail.view.ts'

export { levelFault } from './guardrails.ts'

/** Checks of requests and answers, and the actions on their verdicts. */
export const guardrails = feature({
  id: 'guardrails',
  since: '1.3.0',
  // One that is named twice runs once; requests with a JWT pass those of their workspace too.
  changes: ['1.3.3', '1.7.0'],
  flag: 'GUARDRAILS_ENABLED',
  requires: ['workspaces'],
  permissions: (['create', 'read', 'update', 'delete', 'list'] as const).flatMap(guardrailScopes),
  entities: [GuardrailEntity],
  routes: [listChecks, testGuardrail, createGuardrail, listGuardrails, readGuardrail, updateGuardrail, deleteGuardrail],
  views: { guardrail: guardrailView },
})

/** Kinds of checks that came with later releases; each is a check in src/gateway/checks. */
const kind = { flag: 'GUARDRAILS_ENABLED', requires: ['guardrails'], permissions: [], entities: [], routes: [] } as const

export const guardrailKinds = [
  feature({ ...kind, id: 'guardrail-add-prefix', since: '1.3.1' }),
  feature({ ...kind, id: 'guardrail-allowed-request-types', since: '1.3.1' }),
  feature({ ...kind, id: 'guardrail-partner-backend', since: '1.5.1' }),
  feature({ ...kind, id: 'plugin-providers', since: '1.6.1' }),
  feature({ ...kind, id: 'guardrail-request-parameters', since: '1.6.1' }),
  feature({ ...kind, id: 'guardrail-partner-redaction', since: '1.8.0' }),
  feature({ ...kind, id: 'guardrail-partner-scanner', since: '1.12.0' }),
]
