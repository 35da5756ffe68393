import { ApiError, type ErrorCode } from '../../src/lib/errors.ts'
import { findingAdvice } from '../../src/cli/doctor/findings.ts'
import { ssoAdvice } from '../../src/cli/doctor/sso-findings.ts'
import { preflightChecks } from '../../src/cli/preflight/checks.ts'
import type { Advice } from '../../src/cli/troubleshooting/advice.ts'
import { faultAdvice } from '../../src/cli/troubleshooting/distribution.ts'
import { errorAdvice } from '../../src/cli/troubleshooting/error-codes.ts'
import { readinessAdvice, startAdvice, sealedAdvice } from '../../src/cli/troubleshooting/starts.ts'

/** The parts of docs/operations/troubleshooting.md that are made from the code, by the name of their place. */
export const troubleshootingParts = (): Readonly<Record<string, string>> => ({
  errors: table(errorAdvice, (code) => ` (${statusOf(code)})`),
  refusals: table(startAdvice),
  readiness: table(readinessAdvice),
  sealed: table(sealedAdvice),
  findings: table(findingAdvice),
  'sso-findings': table(ssoAdvice),
  faults: table(faultAdvice),
  checks: table(Object.fromEntries(preflightChecks.map(({ id, about, remedy }) => [id, { means: about, fix: remedy }]))),
})

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorAdvice, code)
const statusOf = (code: string): number => (isCode(code) ? new ApiError(code, '').status : 0)

function table(advices: Readonly<Record<string, Advice>>, note: (name: string) => string = () => ''): string {
  const rows = Object.entries(advices).map(([name, { means, fix }]) => [`\`${name}\`${note(name)}`, means, fix])
  return [['', 'What it means', 'What to do'], ['---', '---', '---'], ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
}

const cell = (text: string) => text.replaceAll('|', String.raw`\|`)
