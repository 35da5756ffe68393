import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { cutText } from '../protocol/capabilities.ts'
import type { ServerFacts } from './upstream-request.ts'

/** Longer facts are left out, as if the server did not state them, and longer instructions are cut: they are kept for as long as the server is known. */
const mostBytes = 64 * 1024

/** Returns the facts that a server states in its greeting, within bounds. */
export const boundFacts = (
  { capabilities, instructions }: Fields,
  serverInfo: unknown,
): Pick<ServerFacts, 'capabilities' | 'serverInfo' | 'instructions'> => ({
  capabilities: keptFields(capabilities) ?? {},
  serverInfo: keptFields(serverInfo) ?? { name: 'unknown', version: '0' },
  instructions: typeof instructions === 'string' ? cutText(instructions, mostBytes) : null,
})

/** Returns a copy, which does not remember the text that it was read from; null: it is too long, or no object. */
function keptFields(value: unknown): Fields | null {
  const text = isFields(value) ? JSON.stringify(value) : ''
  const copy: unknown = text === '' || Buffer.byteLength(text) > mostBytes ? null : JSON.parse(text)
  return isFields(copy) ? copy : null
}

/** Returns about how many bytes facts take. */
export const bytesOfFacts = (facts: ServerFacts): number => Buffer.byteLength(JSON.stringify(facts))
