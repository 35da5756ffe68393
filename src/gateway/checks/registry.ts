import type { Check } from './check.ts'
import { addPrefix } from './default/add-prefix.ts'
import { allowedRequestTypes } from './default/allowed-request-types.ts'
import { characterCount } from './default/character-count.ts'
import { containsCode } from './default/contains-code.ts'
import { contains } from './default/contains.ts'
import { endsWith } from './default/ends-with.ts'
import { jsonKeys } from './default/json-keys.ts'
import { jsonSchema } from './default/json-schema.ts'
import { jwt } from './default/jwt.ts'
import { allLowercase, allUppercase } from './default/letter-case.ts'
import { log } from './default/log.ts'
import { modelRules } from './default/model-rules.ts'
import { modelWhitelist } from './default/model-whitelist.ts'
import { notNull } from './default/not-null.ts'
import { regexMatch } from './default/regex-match.ts'
import { regexReplace } from './default/regex-replace.ts'
import { requestParametersCheck } from './default/request-parameters.ts'
import { requiredMetadataKeys } from './default/required-metadata-keys.ts'
import { requiredMetadataKeyPairs } from './default/required-metadata-pairs.ts'
import { sentenceCount } from './default/sentence-count.ts'
import { validUrls } from './default/valid-urls.ts'
import { webhook } from './default/webhook.ts'
import { wordCount } from './default/word-count.ts'
import { partnerChecks } from './partners/all.ts'

/** Every check, in the order of the guide. */
export const checks: readonly Check[] = [
  regexMatch,
  regexReplace,
  contains,
  endsWith,
  sentenceCount,
  wordCount,
  characterCount,
  allUppercase,
  allLowercase,
  notNull,
  containsCode,
  jsonSchema,
  jsonKeys,
  validUrls,
  addPrefix,
  modelWhitelist,
  modelRules,
  allowedRequestTypes,
  requestParametersCheck,
  requiredMetadataKeys,
  requiredMetadataKeyPairs,
  jwt,
  webhook,
  log,
  ...partnerChecks,
]

/** Other ids by which checks are known. */
const otherIds: Readonly<Record<string, string>> = { 'default.isAllLowerCase': 'default.alllowercase' }

const byId = new Map(checks.map((check) => [check.id, check]))

/** The check of that id; null when there is none. */
export const findCheck = (id: string): Check | null => byId.get(Object.hasOwn(otherIds, id) ? (otherIds[id] ?? id) : id) ?? null
