import type { Call } from '../../app/route.ts'
import {
  compileGuardrail,
  type Guardrail,
  checkList,
  guardrailActions,
  type FindCredentials,
  type TrialDeps,
} from '../../gateway/ports/checks.ts'
import { withPatterns } from '../../gateway/ports/patterns.ts'
import { allowedHostsOf } from '../../app/snapshot/allowed-hosts.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { storedCredentials } from '../plugins/index.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { findGuardrail, homeOfNew } from './access.ts'
import { acceptChecks, openChecks } from './guardrails.ts'
import type { TryGuardrail } from './trial.schema.ts'

type TrialCall = Pick<Call<unknown, unknown, TryGuardrail>, 'em' | 'actor' | 'deps' | 'body'>

/** Makes the guardrail ready that a trial is about: a stored one, or checks that the caller might store. */
export const readyGuardrail = (asked: TrialCall): Promise<Ready> =>
  asked.body.guardrail === undefined ? given(asked) : stored(asked, asked.body.guardrail)

/** A guardrail that is to be tried, and its home. */
export interface Ready {
  readonly guardrail: Guardrail
  /** Null: it is the organisation's. */
  readonly workspaceId: string | null
}

/** Opens the stored credentials that a guardrail's checks may ask for, where the caller tries it. */
async function credentialsFor({ em, actor, deps, body }: TrialCall, { checks }: Guardrail): Promise<FindCredentials> {
  const names = checks.flatMap(({ definition }) => definition.account?.plugin ?? [])
  const workspaceId = body.workspace_id === undefined ? actor.workspaceId : (await resolveWorkspace(em, actor, body.workspace_id)).id
  const found = await storedCredentials(em, { organisationId: actor.organisationId, workspaceId }, { names, vault: deps.vault })
  return (plugin) => found.get(plugin) ?? null
}

/** Returns the services of a trial: the hosts that the organisation allows, and the credentials that it stored. */
export async function runDeps(asked: TrialCall, guardrail: Guardrail): Promise<TrialDeps> {
  const { em, actor, deps } = asked
  const { settings } = await em.findOneOrFail(Organisation, { id: actor.organisationId })
  return {
    egress: deps.egress,
    allowedHosts: allowedHostsOf(settings),
    credentials: await credentialsFor(asked, guardrail),
    organisationId: actor.organisationId,
    now: () => deps.clock.now(),
    atLeast: (release) => deps.level.atLeast(release),
    // Metrics are about real requests only.
    observe: () => {},
  }
}

async function given({ em, actor, deps, body }: TrialCall): Promise<Ready> {
  const workspaceId = await homeOfNew(em, actor, body)
  const { vault, egress, level } = deps
  const checks = await acceptChecks(body.checks ?? [], [], { actor, vault, egress, level, workspaceId })
  const definition = { id: 'test', name: 'test', checks, actions: body.actions ?? {} }
  const { result } = await withPatterns({ owner: actor.organisationId }, () => compileGuardrail(definition))
  return { guardrail: result, workspaceId }
}

async function stored({ em, actor, deps, body }: TrialCall, reference: string): Promise<Ready> {
  const row = await findGuardrail(em, actor, { reference, param: 'guardrail', verb: 'read', workspace: body.workspace_id })
  const { id, name } = row
  const [opened, actions] = [await openChecks(row, deps.vault), guardrailActions.parse(row.actions)]
  const making = { owner: actor.organisationId, stored: true }
  const { result } = await withPatterns(making, () => compileGuardrail({ id, name, checks: checkList.parse(opened), actions }))
  return { guardrail: result, workspaceId: row.workspaceId ?? null }
}
