import { toApiError } from '../../lib/errors.ts'
import { parseRecord } from '../credentials/token-endpoint.ts'
import type { AllowedHosts } from '../egress/allowed-hosts.ts'
import type { Egress } from '../egress/egress.ts'
import { egressFor } from '../egress/narrowed.ts'
import type { ManagerDeps } from './managers/ask-manager.ts'
import { valueOf } from './mapped-credential.ts'
import { readSecret } from './read-secret.ts'
import type { SecretReference } from './secret-reference.ts'

/** The steps of a test, in their order. */
export const secretSteps = ['address', 'secret', 'field'] as const

type Step = (typeof secretSteps)[number]

interface StepResult {
  readonly step: Step
  readonly status: 'passed' | 'failed' | 'skipped'
  readonly durationMs: number | null
  readonly message: string
  /** Null: no error. */
  readonly code: string | null
}

/** The result of reading a secret step by step. It holds names and times, never values. */
export interface SecretTest {
  readonly steps: readonly StepResult[]
  /** The names of its fields; null: it is no JSON object, or was not read. */
  readonly fields: readonly string[] | null
}

export interface SecretTestDeps extends Omit<ManagerDeps, 'storedBy'> {
  /** The hosts to which the organisation lets requests go; null: all. */
  readonly allowedHosts: AllowedHosts | null
}

const mostFields = 100

/** Reads a secret step by step, past the memory, until a step fails. Never rejects for a fault of the manager. */
export async function testSecret(reference: SecretReference, { allowedHosts, ...asking }: SecretTestDeps): Promise<SecretTest> {
  const egress = egressFor(asking.egress, { organisationId: reference.organisationId, allowedHosts })
  const results: StepResult[] = []
  const run = async <Result>(step: Step, work: () => Promise<readonly [message: string, result: Result]>): Promise<Result> => {
    const began = performance.now()
    const took = () => Math.round((performance.now() - began) * 10) / 10
    try {
      const [message, result] = await work()
      results.push({ step, status: 'passed', durationMs: took(), message, code: null })
      return result
    } catch (thrown) {
      const { code, message } = toApiError(thrown)
      results.push({ step, status: 'failed', durationMs: took(), message, code })
      throw thrown
    }
  }
  const found: { fields: readonly string[] | null } = { fields: null }
  try {
    await run('address', async () => {
      const origin = await managerOrigin(reference.auth, egress)
      return [origin === null ? 'The manager is at the address of its cloud.' : `The manager is at ${origin}, which is allowed.`, null]
    })
    const text = await run('secret', async () => {
      const secret = await readSecret(reference, { ...asking, egress, storedBy: reference.organisationId })
      return ['The manager gave the secret.', secret]
    })
    const record = parseRecord(text)
    found.fields = record === null ? null : Object.keys(record).toSorted().slice(0, mostFields)
    await run('field', async () => [takeField(reference, text), null])
  } catch {
    // The failed step has the reason.
  }
  const skipped = secretSteps.slice(results.length).map((step): StepResult => ({
    step,
    status: 'skipped',
    durationMs: null,
    message: 'An earlier step failed.',
    code: null,
  }))
  return { steps: [...results, ...skipped], fields: found.fields }
}

/** Returns the message about the field that a reference names. Throws `secret_unavailable`. */
function takeField(reference: SecretReference, text: string): string {
  if (reference.secretKey === null) return 'The whole secret is used, unless a mapping names a field.'
  valueOf(text, { field: 'key', secretKey: null, format: 'string', reference, allowed: true })
  return `The field ${JSON.stringify(reference.secretKey)} is there.`
}

/** Lets the egress guard look at the address of a manager; null: it is that of its cloud. Rejects with `blocked_host` naming the field. */
export async function managerOrigin(auth: SecretReference['auth'], egress: Egress): Promise<string | null> {
  const name = ['vault_addr', 'azure_vault_url'].find((one) => auth[one] !== undefined)
  if (name === undefined) return null
  const { origin } = await egress.origin(auth[name] ?? '', `auth_config.${name}`)
  return origin
}
