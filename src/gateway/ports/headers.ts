/** Lists of headers, and the headers of callers. */
export { countHeaders, eachHeader, headerRecord, headersWithout, headerValues } from '../wire/header-list.ts'
export { type CallerHeaders, headerPrefixes, isCredentialHeader, isKeyHeader, sortHeaders } from '../wire/headers.ts'
