import type { Fields } from '../../../lib/json/fields.ts'
import { checkDeps } from '../../attempts/try-target.ts'
import type { RequestFacts } from '../../checks/check.ts'
import type { Guardrail } from '../../checks/guardrail.ts'
import { hookField, type HookResult } from '../../checks/hook-results.ts'
import { type GuardrailPlan, planGuardrails } from '../../checks/plan.ts'
import { type RunDeps, runGuardrails } from '../../checks/run.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import { headerValue } from '../../wire/header-list.ts'
import { type ClientFacts, metaOf } from '../protocol/envelope.ts'
import { McpFault } from '../protocol/faults.ts'
import { type RpcAnswer, type RpcCall, rpcCodes } from '../protocol/messages.ts'
import type { UpstreamRequest } from '../upstream/upstream-request.ts'
import { callFacts } from './account.ts'
import type { McpHead } from './caller.ts'
import { editFields, guardedFields, refusesEdit } from './guarded-texts.ts'
import { askGuarded, judgeError, tell } from './guarded-ways.ts'
import { plainCapabilities } from './protocol-words.ts'
import type { CallNotes } from './call-notes.ts'

/** The guardrails of one call: those of the server, then those of the organisation and of the workspace. */
export interface CallGuard {
  /** Returns the request as it may go to the server. Throws when a guardrail denies it. */
  before(request: UpstreamRequest): Promise<UpstreamRequest>
  /** Returns the answer as it may go to the client. Throws when a guardrail denies it. */
  after(answer: RpcAnswer): Promise<RpcAnswer>
  /** Looks at texts that go to the server in another way. Throws when a guardrail denies them. */
  look(fields: Fields): Promise<void>
}

/** The methods whose results are looked at: definitions in lists are held by pins. */
const guarded: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read', 'completion/complete'])

/** Checks of requests to models: calls have none of the things that they look at. */
const ofModels: ReadonlySet<string> = new Set([
  'default.modelRules',
  'default.modelWhitelist',
  'default.requestParametersCheck',
  'default.allowedRequestTypes',
  'default.addPrefix',
])

/** Returns the guardrails of a call; null: there are none. Rejects for one that is not there any more. */
export async function guardOf(deps: PipelineDeps, head: McpHead, { call, noted }: GuardedCall): Promise<CallGuard | null> {
  const plan = await planOf(deps, head)
  return plan === null ? null : guardBy(plan, { head, call, noted, deps: checkDeps(head, deps) })
}

/** Returns the guardrails that hold for the calls of a caller at a server; null: there are none. */
async function planOf(deps: PipelineDeps, head: McpHead): Promise<GuardrailPlan | null> {
  if (!deps.settings.acts.guardrails()) return null
  const { key } = head.caller
  const { inputGuardrails, outputGuardrails } = head.server
  const config = { inputGuardrails, outputGuardrails, strictOpenAiCompliance: null }
  const plan = await planGuardrails({ key, headers: head.headers, config }, deps.snapshot)
  if (plan === null) return null
  const own = { ...plan, input: ofCalls(plan.input), output: ofCalls(plan.output) }
  return own.input.length + own.output.length === 0 ? null : own
}

/** Returns the facts about a client as its server may have them: where texts of its calls are looked at, those that are no words of its own. */
export async function toldClient(deps: PipelineDeps, head: McpHead, { capabilities, info }: ClientFacts): Promise<ClientFacts> {
  const plan = await planOf(deps, head)
  return plan === null || plan.input.length === 0 ? { capabilities, info } : { capabilities: plainCapabilities(capabilities), info: null }
}

/** Returns a server's notifications outside of calls as they may go on, or null for one that may not: where results are held, they carry an address at most. */
export async function unaskedFilter(deps: PipelineDeps, head: McpHead): Promise<(told: RpcCall) => RpcCall | null> {
  const plan = await planOf(deps, head)
  if (plan === null || !holds(plan)) return (told) => told
  return ({ method, params: { uri } }) =>
    method === 'notifications/message' ? null : { method, params: method === 'notifications/resources/updated' ? { uri } : {} }
}

const holds = ({ output }: GuardrailPlan): boolean => output.some((guardrail) => !guardrail.async)

interface GuardedCall {
  readonly call: RpcCall
  readonly noted: CallNotes
}

const ofCalls = (guardrails: readonly Guardrail[]): readonly Guardrail[] =>
  guardrails.flatMap((guardrail) => {
    const checks = guardrail.checks.filter(({ definition }) => !ofModels.has(definition.id))
    return checks.length === 0 ? [] : [Object.assign({}, guardrail, { checks })]
  })

interface GuardContext extends GuardedCall {
  readonly head: McpHead
  readonly deps: RunDeps
}

function guardBy(plan: GuardrailPlan, context: GuardContext): CallGuard {
  const { call, noted, deps } = context
  const request = factsOf(context)

  /** Runs the guardrails of a phase, notes their results, and returns the fields as they leave them. */
  async function judge(phase: 'input' | 'output', json: Fields, guardrails = plan[phase]): Promise<Fields> {
    if (guardrails.length === 0) return json
    const { body, results, deniedBy } = await runGuardrails(guardrails, {
      phase,
      body: guardedFields(json, phase),
      apply: (held, edits) => editFields(held, edits, phase),
      ...(phase === 'input' && { refuses: refusesEdit }),
      request,
      status: phase === 'output' ? 200 : null,
      deps,
    })
    const field = hookField[phase]
    noted.hooks = { ...noted.hooks, [field]: [...noted.hooks[field], ...results] }
    if (deniedBy !== null) throw denied(deniedBy, results, { phase, call, noted })
    return body.json
  }

  return {
    async before(asked) {
      const { given, kept, progressToken } = apart(asked.params)
      const params = await judge('input', given)
      return {
        ...asked,
        params: { ...params, ...kept, ...(progressToken !== undefined && { _meta: { ...metaOf(params), progressToken: ownToken } }) },
        // The names of headers are those of arguments, which a check may have changed.
        paramHeaders: params === given ? asked.paramHeaders : [],
        notify: (told) => tell(told, { progressToken, isHeld: holds(plan), notify: (heard) => asked.notify(heard) }),
        ask: asked.ask === null ? null : askGuarded(asked.ask, judge),
      }
    },
    async after(answer) {
      if ('error' in answer) return plan.output.length === 0 ? answer : { error: await judgeError('output', answer.error, judge) }
      return guarded.has(call.method) ? { result: await judge('output', answer.result) } : answer
    },
    look: async (fields) => void (await judge('input', fields)),
  }
}

/** Stands for the token of the client, which may be any text. */
const ownToken = 1

/** Leaves out the parameters that are no texts of the client's: the state, which was sealed here, and its token for progress. */
function apart({ requestState, ...params }: Fields) {
  const { progressToken, ...meta } = metaOf(params)
  const kept = requestState === undefined ? {} : { requestState }
  return { given: progressToken === undefined ? params : { ...params, _meta: meta }, kept, progressToken }
}

function factsOf({ head, call }: GuardContext): RequestFacts {
  const { exchange, caller, headers } = head
  return {
    json: call.params,
    method: exchange.method,
    path: exchange.url.split('?', 1)[0] ?? '',
    operation: 'mcp',
    dialect: null,
    prompted: false,
    stream: false,
    model: null,
    models: () => [],
    provider: 'mcp',
    metadata: callFacts(head, call),
    header(name) {
      const value = headerValue(headers.forward, name)
      return value === undefined || caller.holdsOwnKey(value) ? undefined : value
    },
  }
}

interface DeniedCall extends GuardedCall {
  readonly phase: 'input' | 'output'
}

/** The code of the log for a call that a guardrail has denied. */
export const deniedCode = 'hooks_failed'

function denied({ id, name, message }: Guardrail, results: readonly HookResult[], { phase, call, noted }: DeniedCall): McpFault {
  const failed = results.filter((result) => result.id === id).flatMap(({ checks }) => checks.filter(({ verdict }) => !verdict))
  const checks = [...new Set(failed.map((check) => check.id))]
  const what = phase === 'input' ? 'this call' : 'the result of this call'
  const said = message ?? `The guardrail ${JSON.stringify(name)} does not let ${what} through.`
  noted.isDenied = true
  return new McpFault({
    status: 200,
    code: deniedCode,
    error: { code: rpcCodes.refused, message: said, data: { code: deniedCode, guardrail: id, checks, phase, method: call.method } },
  })
}

/** Returns the refusal of a guardrail as the result of a tool, which models read; other methods have only the error. */
export const deniedResult = ({ error: { message, data } }: McpFault): RpcAnswer => ({
  result: { content: [{ type: 'text', text: message }], isError: true, _meta: { 'gatehouse/guardrail': data } },
})
