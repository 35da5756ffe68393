/** Guardrails: their schemas, their checks and partners, and trying them. */
export { type Check, type FindCredentials, type Phase, scopes, type StoredCredentials } from '../checks/check.ts'
export { nameOfRelease, releasesOfCheck } from '../checks/check-release.ts'
export { compileGuardrail, type Guardrail } from '../checks/guardrail.ts'
export {
  type CheckEntry,
  checkList,
  guardrailActionChanges,
  guardrailActions,
  idleIn,
  newGuardrailActions,
  phasesOf,
  spelledOut,
} from '../checks/guardrail.schema.ts'
export { calledUrl, type Plugin, plugins, pluginsUsedBy } from '../checks/partners/plugins.ts'
export { checks, findCheck } from '../checks/registry.ts'
export { checkListSecrets, checkUrls, inlineChecks, inlinePlugins, inlineSecrets, inlineUrls } from '../checks/secrets.ts'
export { type Sample, type Trial, type TrialDeps, tryGuardrail } from '../checks/try-guardrail.ts'
export { answerOfStream } from '../dialects/stream-whole.ts'
export { everyText, inItems } from '../dialects/texts/walk.ts'
