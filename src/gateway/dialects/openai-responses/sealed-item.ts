import { hashedId } from '../tool-calls.ts'

const form = /^(rs_[A-Za-z0-9]+):(.+)$/s

/** Returns the text that a client must keep of an item of sealed reasoning: the API wants its id back with it. */
export const writeSealed = (id: string, encrypted: string): string => `${id}:${encrypted}`

/** Reads a client's kept text. One without an id gets one that is always the same. */
export function readSealed(value: string): { readonly id: string; readonly encrypted: string } {
  const [, id, encrypted] = form.exec(value) ?? []
  return id === undefined || encrypted === undefined ? { id: `rs_${hashedId(value, 24)}`, encrypted: value } : { id, encrypted }
}
