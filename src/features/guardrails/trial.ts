import type { Call } from '../../app/route.ts'
import { compileGuardrail, type Guardrail } from '../../gateway/checks/guardrail.ts'
import { checkList, guardrailActions } from '../../gateway/checks/guardrail.schema.ts'
import { withPatterns } from '../../gateway/patterns/pattern-making.ts'
import type { FindCredentials } from '../../gateway/checks/check.ts'
import { storedCredentials } from '../plugins/index.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { findGuardrail, homeOfNew } from './access.ts'
import { acceptChecks, openChecks } from './guardrails.ts'
import type { TryGuardrail } from './trial.schema.ts'

type Asked = Pick<Call<unknown, unknown, TryGuardrail>, 'em' | 'actor' | 'deps' | 'body'>

/** Makes the guardrail ready that a trial is about: a stored one, or checks that the caller might store. */
export const readyGuardrail = (asked: Asked): Promise<Guardrail> =>
  asked.body.guardrail === undefined ? given(asked) : stored(asked, asked.body.guardrail)

/** Opens the stored credentials that a guardrail's checks may ask for, where the caller tries it. */
export async function credentialsFor({ em, actor, deps, body }: Asked, { checks }: Guardrail): Promise<FindCredentials> {
  const names = checks.flatMap(({ definition }) => definition.account?.plugin ?? [])
  const workspaceId = body.workspace_id === undefined ? actor.workspaceId : (await resolveWorkspace(em, actor, body.workspace_id)).id
  const found = await storedCredentials(em, { organisationId: actor.organisationId, workspaceId }, { names, vault: deps.vault })
  return (plugin) => found.get(plugin) ?? null
}

async function given({ em, actor, deps, body }: Asked): Promise<Guardrail> {
  const workspaceId = await homeOfNew(em, actor, body)
  const { vault, egress, level } = deps
  const checks = await acceptChecks(body.checks ?? [], [], { actor, vault, egress, level, workspaceId })
  const definition = { id: 'test', name: 'test', checks, actions: body.actions ?? {} }
  return (await withPatterns({ owner: actor.organisationId }, () => compileGuardrail(definition))).result
}

async function stored({ em, actor, deps, body }: Asked, reference: string): Promise<Guardrail> {
  const row = await findGuardrail(em, actor, { reference, param: 'guardrail', verb: 'read', workspace: body.workspace_id })
  const { id, name } = row
  const [opened, actions] = [await openChecks(row, deps.vault), guardrailActions.parse(row.actions)]
  const making = { owner: actor.organisationId, stored: true }
  return (await withPatterns(making, () => compileGuardrail({ id, name, checks: checkList.parse(opened), actions }))).result
}
