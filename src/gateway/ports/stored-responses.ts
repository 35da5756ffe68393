/** The store of responses that clients continue later. */
export { formerResponseId } from '../dialects/openai-responses/response-id.ts'
export type { ResponseOwner, ResponseReader, ResponseStore, StoredResponse } from '../stored-responses/response-store.ts'
