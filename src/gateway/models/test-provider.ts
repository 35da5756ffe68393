import { ApiError, toApiError } from '../../lib/errors.ts'
import { readModelList } from '../dialects/model-lists.ts'
import { readProviderError } from '../dialects/provider-error.ts'
import { hidingSecrets } from '../../lib/text/known-secrets.ts'
import type { AllowedHosts } from '../egress/allowed-hosts.ts'
import type { EgressOrigin, SmallResponse } from '../egress/egress.ts'
import { narrowed } from '../egress/narrowed.ts'
import { withDefaults } from '../providers/endpoint.ts'
import type { CheckCall } from '../providers/provider.ts'
import { fillTemplate } from '../providers/template.ts'
import type { Target } from '../targets/target.ts'
import { askProvider, originOfQuestion, secretsOf, type ProviderAccess, type Question } from './ask-provider.ts'
import { listPathOf } from './list-path.ts'

/** The steps of a test, in their order. */
export const testSteps = ['address', 'name', 'connection', 'credential', 'models'] as const

export type TestStep = (typeof testSteps)[number]

/** The outcome of one step; `skipped`: a step before it failed, or the provider has no request that could decide it. */
export interface StepResult {
  readonly step: TestStep
  readonly status: 'passed' | 'failed' | 'skipped'
  readonly durationMs: number | null
  readonly message: string
  /** For a failure: a code of ours. */
  readonly code: string | null
}

export interface ProviderTest {
  /** Scheme, host and port of the request; null: they could not be determined. */
  readonly origin: string | null
  readonly steps: readonly StepResult[]
  /** The ids of its models; null when it did not list them. */
  readonly models: readonly string[] | null
}

const timeoutMs = 5000

export interface TestDeps extends ProviderAccess {
  /** To which hosts the organisation lets requests go; null: to all. */
  readonly allowedHosts: AllowedHosts | null
}

/** Tries a provider step by step, until one fails. No message holds a part of the credential. Never rejects for a fault of the provider. */
export async function testProvider(target: Target, deps: TestDeps): Promise<ProviderTest> {
  const access = { egress: narrowed(deps.egress, deps.allowedHosts), signing: deps.signing }
  const steps: StepResult[] = []
  // Answers have no secrets any more; a failure before there was one may name some.
  const hide = hidingSecrets(secretsOf(target))
  const run = async <Result>(step: TestStep, work: () => Promise<StepOutcome<Result>>): Promise<Result> => {
    const began = performance.now()
    const since = () => Math.round((performance.now() - began) * 10) / 10
    try {
      const { message, result, unknown = false } = await work()
      steps.push({ step, status: unknown ? 'skipped' : 'passed', durationMs: since(), message: hide(message), code: null })
      return result
    } catch (thrown) {
      const { code, message } = toApiError(thrown)
      steps.push({ step, status: 'failed', durationMs: since(), message: hide(message), code })
      throw thrown
    }
  }
  const found: { origin: string | null; models: readonly string[] | null } = { origin: null, models: null }
  try {
    const check = await run('address', async () => findAddress(target, access))
    found.origin = check.origin.origin
    await run('name', async () => resolve(check.origin))
    await run('connection', async () => connect(check.origin))
    const answer = await run('credential', async () => present(check, access))
    found.models = await run('models', async () => list(answer, check))
  } catch {
    // The failed step has the reason.
  }
  return { ...found, steps: [...steps, ...skipped(steps.length)] }
}

interface StepOutcome<Result> {
  readonly message: string
  readonly result: Result
  /** True if the step cannot be decided for this provider. */
  readonly unknown?: boolean
}

/** The request that tests a credential; null: the provider has none. */
interface ConnectionCheck {
  readonly origin: EgressOrigin
  readonly question: Question | null
  readonly call: CheckCall | null
}

async function findAddress(target: Target, access: ProviderAccess): Promise<StepOutcome<ConnectionCheck>> {
  const call = callOf(target)
  const fields = withDefaults(target.provider, target.credential.fields)
  const question = call === null ? null : toQuestion(target, call, fillTemplate(call.path, fields))
  const origin = await originOfQuestion(question ?? { target, path: '/', timeoutMs }, access)
  return { message: `Requests go to ${origin.origin}${origin.basePath}, which is allowed.`, result: { origin, question, call } }
}

const toQuestion = (target: Target, { body }: CheckCall, path: string): Question => {
  const hides = secretsOf(target).filter(({ length }) => length >= shortestHidden)
  return { target, path, timeoutMs, hides, ...(body !== undefined && { body }) }
}

/** A shorter value of a header may be a word of the names of models. */
const shortestHidden = 8

function callOf({ provider }: Target): CheckCall | null {
  const path = listPathOf(provider)
  return provider.check ?? (path === null ? null : { path })
}

async function resolve(origin: EgressOrigin): Promise<StepOutcome<null>> {
  await origin.resolve()
  return { message: 'The host has an address that may be reached.', result: null }
}

async function connect(origin: EgressOrigin): Promise<StepOutcome<null>> {
  await origin.reach()
  const how = origin.origin.startsWith('https:') ? 'with TLS, and its certificate is good' : 'without TLS'
  return { message: `The host takes connections, ${how}.`, result: null }
}

async function present({ question, call }: ConnectionCheck, access: ProviderAccess): Promise<StepOutcome<SmallResponse | null>> {
  if (question === null || call === null)
    return { message: 'This provider has no free request that tests a credential.', result: null, unknown: true }
  const answer = await askProvider(question, access)
  const { status } = answer
  if ((status >= 200 && status < 300) || call.accepted?.includes(status) === true)
    return { message: `The provider took the credential (${status}).`, result: answer }
  if (status === 404 || status === 405)
    return {
      message: `The provider answered ${status} at ${plain(question.path)}, which does not show whether the credential is good.`,
      result: null,
      unknown: true,
    }
  throw new ApiError(codeOf(answer), `The provider answered ${status}${wordsOf(answer)}`)
}

const plain = (path: string): string => (path.split('?', 1)[0] ?? path).replace(/^\^/, '')

/** Google answers a wrong key with 400. */
const isRefused = ({ status, text }: SmallResponse): boolean =>
  status === 401 || status === 403 || (status === 400 && text.includes('API_KEY_INVALID'))

const codeOf = (answer: SmallResponse) => (isRefused(answer) ? 'missing_credential' : 'upstream_bad_response')

function wordsOf({ text }: SmallResponse): string {
  const json = parsed(text)
  const bare: unknown = Reflect.get(Object(json), 'message')
  const words = readProviderError(json)?.message ?? (typeof bare === 'string' ? bare : '')
  return words === '' ? '.' : `: ${words.slice(0, 300)}`
}

async function list(answer: SmallResponse | null, { call }: ConnectionCheck): Promise<StepOutcome<readonly string[] | null>> {
  const models = answer === null || call?.body !== undefined ? null : readModelList(parsed(answer.text))
  if (models === null) return { message: 'The provider lists no models that can be read here.', result: null, unknown: true }
  return { message: `The provider lists ${models.length} model${models.length === 1 ? '' : 's'}.`, result: models.map(({ id }) => id) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const skipped = (done: number): readonly StepResult[] =>
  testSteps.slice(done).map((step) => ({ step, status: 'skipped', durationMs: null, message: 'An earlier step failed.', code: null }))
