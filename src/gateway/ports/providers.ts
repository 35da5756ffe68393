/** The catalogue of providers: the fields of their credentials, their hosts, and trying them. */
export { listPathOf } from '../models/list-path.ts'
export { testProvider, testSteps } from '../models/test-provider.ts'
export { findProvider, laterProviders, type ProviderId, providers } from '../providers/catalog.ts'
export { labels } from '../providers/catalog/labels.ts'
export { baseUrlOf, withDefaults } from '../providers/endpoint.ts'
export { secretFields } from '../providers/fields.ts'
export { meantSentence } from '../providers/meant-provider.ts'
export type { Credential, Provider } from '../providers/provider.ts'
export {
  asBrought,
  broughtFields,
  laterBeside,
  type LaterBeside,
  notYetBeside,
  providerFieldNames,
  releaseOfField,
  secretConfigFields,
  skipPtuField,
} from '../providers/provider-fields.ts'
