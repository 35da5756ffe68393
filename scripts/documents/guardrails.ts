import type { Check } from '../../src/gateway/checks/check.ts'
import { partnerChecks } from '../../src/gateway/checks/partners/all.ts'
import { checks } from '../../src/gateway/checks/registry.ts'
import { fieldRows, fieldTable, table } from './parameter-table.ts'

/** Parameters that all checks take, and that all take which call a service. */
const shared = new Set(['scope', 'on_error', 'failOnError', 'timeout'])
const ofPartners = new Set([...shared, 'baseUrl'])

const runs = ({ phases }: Check): string =>
  phases.length === 2 ? 'before and after the call' : phases[0] === 'input' ? 'before the call' : 'after the call'

function section(check: Check, leaveOut: ReadonlySet<string>): string {
  const rows = fieldRows(check.parameters, { leaveOut, secrets: new Set(check.secrets) })
  const facts = [
    `Runs ${runs(check)}.`,
    ...(check.changes ? ['May change what it looks at.'] : []),
    ...(check.timeoutMs === null ? [] : [`\`timeout\`: ${check.timeoutMs} ms unless given.`]),
    `Since ${check.since}.`,
  ]
  return [`### \`${check.id}\``, `${check.title}. ${check.about}`, facts.join(' '), ...(rows.length > 0 ? [fieldTable(rows)] : [])].join(
    '\n\n',
  )
}

const isPartner = new Set(partnerChecks.map(({ id }) => id))
const own = checks.filter(({ id }) => !isPartner.has(id))

const basis = { documented: "the service's public documents", observed: 'what other clients send' } as const

const overview = (): string =>
  table(
    ['Check', 'Service', 'Runs', 'Changes texts', 'Format known from'],
    partnerChecks.map((check) => [
      `[\`${check.id}\`](#${check.id.toLowerCase().replaceAll('.', '')})`,
      check.title,
      runs(check),
      check.changes ? 'can' : '',
      basis[check.basis ?? 'observed'],
    ]),
  )

const first = checks[0]

/** The generated parts of `docs/reference/guardrails.md`. */
export const guardrailParts = (): Readonly<Record<string, string>> => ({
  shared: first === undefined ? '' : fieldTable(fieldRows(first.parameters).filter(({ name }) => shared.has(name))),
  checks: own.map((check) => section(check, shared)).join('\n\n'),
  partners: overview(),
  'partner-checks': partnerChecks.map((check) => section(check, ofPartners)).join('\n\n'),
})
