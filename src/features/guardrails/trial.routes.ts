import { z } from 'zod'
import { type Call, route } from '../../app/route.ts'
import { inTrial } from '../../app/trial-limit.ts'
import { scopes, type Check, checks, findCheck, type Sample, tryGuardrail } from '../../gateway/ports/checks.ts'
import { atLevel } from '../../release/at-level.ts'
import { guardrailScopes } from './access.ts'
import { tryOnLogs } from './log-trial.ts'
import { type Ready, readyGuardrail, runDeps } from './trial.ts'
import { checkCatalogue, checkFilter, logTrialView, trialView, tryGuardrailBody, type TryGuardrail } from './trial.schema.ts'

export const listChecks = route({
  method: 'GET',
  path: '/catalogue/checks',
  summary: 'List the checks that guardrails may have, with the schema of their parameters',
  permission: guardrailScopes('list'),
  query: checkFilter,
  response: checkCatalogue,
})(async ({ query, deps: { level } }) => {
  const only = query.id === undefined ? null : findCheck(query.id)
  const wanted = checks.filter((check) => query.id === undefined || check === only)
  const data = wanted.filter(({ since }) => level.atLeast(since)).map((check) => presentCheck(check, level.release))
  return { object: 'check_catalogue' as const, data }
})

const presentCheck = (check: Check, release: string) => ({
  id: check.id,
  title: check.title,
  description: check.about,
  since: check.since,
  phases: [...check.phases],
  reads: check.reads,
  scopes: [...scopes],
  changes: check.changes,
  calls_out: check.timeoutMs !== null,
  timeout: check.timeoutMs,
  secrets: [...check.secrets],
  plugin: check.account?.plugin ?? null,
  parameters: { ...z.toJSONSchema(atLevel(check.parameters, release, 'description'), { io: 'input', unrepresentable: 'any' }) },
  format: check.basis ?? null,
  object: 'check' as const,
})

export const testGuardrail = route({
  method: 'POST',
  path: '/guardrails/test',
  summary: 'Try a guardrail, or checks that are stored nowhere, on a text or a body',
  permission: guardrailScopes('read'),
  resource: 'guardrail',
  effect: 'none',
  body: tryGuardrailBody,
  response: z.discriminatedUnion('object', [trialView, logTrialView]),
})(async (call) => {
  const { actor, body, deps } = call
  const ready = await readyGuardrail(call)
  const takesTime = body.logs !== undefined || ready.guardrail.checks.some(({ definition }) => definition.timeoutMs !== null)
  return takesTime ? inTrial(deps.egress, actor.organisationId, () => carryOut(call, ready)) : carryOut(call, ready)
})

async function carryOut(call: Call<unknown, unknown, TryGuardrail>, { guardrail, workspaceId }: Ready) {
  const { body } = call
  const run = await runDeps(call, guardrail)
  if (body.logs !== undefined) return tryOnLogs(call, { guardrail, workspaceId, selection: body.logs, run })
  const trial = await tryGuardrail(guardrail, sampleOf(body), run)
  const { verdict, denied, transformed } = trial
  const found = trial.checks.map(({ id, verdict: passed, data, error, execution_time: time, transformed: changed }) => ({
    id,
    verdict: passed,
    data: data === null ? null : { ...data },
    ...(error !== undefined && { error }),
    execution_time: time,
    transformed: changed,
  }))
  return { object: 'guardrail_test' as const, phase: body.phase, verdict, denied, transformed, body: trial.body, checks: found }
}

function sampleOf({ phase, path, text, request, response, metadata }: TryGuardrail): Sample {
  const said = (role: string) => ({ role, content: text ?? '' })
  const asked = request ?? { messages: [said('user')] }
  const answered = response ?? { choices: [{ index: 0, message: said('assistant'), finish_reason: 'stop' }] }
  return { phase, path, metadata, request: asked, response: answered }
}
