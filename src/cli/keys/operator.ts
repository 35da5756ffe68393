import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { perform } from '../../app/http/routes/perform.ts'
import { parseInput } from '../../app/http/routes/input.ts'
import { openSigning } from '../../app/secret-managers/open-signing.ts'
import { createMetrics } from '../../app/metrics/metrics.ts'
import { openCatalogue } from '../../app/prices/model-catalogue.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor, Route } from '../../app/route.ts'
import { createEgress } from '../../gateway/ports/egress-making.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { ApiError } from '../../lib/errors.ts'
import { organisationScopes, userScopes, workspaceScopes } from '../../lib/access/scopes.ts'
import { CommandError, UsageError } from '../failure.ts'
import type { Installation } from '../installation.ts'

/** No key, no user: a person who may run commands on the installation. The trail names the account and the machine. */
const operatorOf = (organisationId: string): Actor => ({
  type: 'operator',
  id: '00000000-0000-0000-0000-000000000000',
  name: `${accountName()}@${hostname()}`,
  keyType: 'organisation-service',
  organisationId,
  workspaceId: null,
  userId: null,
  role: 'owner',
  settings: effectiveSettings({}, {}),
  permissions: new Set([...organisationScopes, ...workspaceScopes, ...userScopes]),
})

/** A random uid of a container has no name. */
function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** A write of the API, as the operator asks for it. */
export interface OperatorRequest {
  readonly organisationId: string
  readonly params: Readonly<Record<string, string>>
  readonly body?: unknown
  /** As the API would be called, for the trail. */
  readonly path: string
}

/** Runs a route of the API as the operator: the same rules, the same transaction, the same row in the audit trail. */
export async function performAsOperator(
  { config, log, orm, vault, clock, level }: Pick<Installation, 'config' | 'log' | 'orm' | 'vault' | 'clock' | 'level'>,
  route: Route,
  asked: OperatorRequest,
): Promise<unknown> {
  const { trustedCustomHosts: trustedHosts, connectTimeoutMs, proxies } = config
  const egress = createEgress({ trustedHosts, connectTimeoutMs, proxies })
  const metrics = createMetrics(config.version)
  const signing = openSigning({ config, clock, metrics })
  const served = { config, log, clock, egress, level, metrics, signing, logStore: null, featuresOn: () => [] }
  const deps: Deps = { ...served, orm, vault, journal: null, events: null, catalogue: openCatalogue(served) }
  try {
    const input = {
      params: parseInput(route.params, asked.params, { place: 'path', level }),
      query: undefined,
      body: parseInput(route.body, asked.body, { place: 'body', level }),
    }
    const { answer } = await perform(deps, {
      route,
      actor: operatorOf(asked.organisationId),
      input,
      query: {},
      requestId: randomUUID(),
      path: asked.path,
      clientAddress: 'command line',
      headers: {},
      repeatable: null,
      ifMatch: null,
      reach: {
        callerOf: () => Promise.resolve(null),
        send: noDataPlane,
        forward: noDataPlane,
        offered: noDataPlane,
        again: () => Promise.resolve(null),
      },
    })
    return answer
  } catch (error) {
    throw toCommandError(error)
  } finally {
    await egress.close()
  }
}

const noDataPlane = () => Promise.reject(new ApiError('AB01', 'There is no data plane at the command line.'))

/** Turns an error for which the API answers 400 into a wrong command line. */
function toCommandError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  return error.status === 400 ? new UsageError(error.message) : new CommandError(error.message)
}
