import { type HeaderList, headerValues } from '../wire/header-list.ts'

/** Headers that choose the tier of a request: cloud.google.com/vertex-ai/generative-ai/docs, docs.aws.amazon.com/bedrock/latest/APIReference. */
const tierHeaders = [
  'x-vertex-ai-llm-shared-request-type',
  'x-amzn-bedrock-service-tier',
  'x-amzn-bedrock-performanceconfig-latency',
] as const

/** Returns the tiers that headers name. */
export const tiersInHeaders = (headers: HeaderList): readonly string[] =>
  headers.length === 0 ? none : tierHeaders.flatMap((name) => headerValues(headers, name))

const none: readonly string[] = []
