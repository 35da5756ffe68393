import type { Part } from './parts.ts'
import type { Turn } from './request.ts'

/** Gathers the turns of a conversation: neighbours of one role become one turn. Empty turns are dropped. */
export class Turns {
  readonly #turns: { readonly role: Turn['role']; readonly parts: Part[]; readonly at: string }[] = []

  add(role: Turn['role'], parts: readonly Part[], at: string): void {
    if (parts.length === 0) return
    const last = this.#turns.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else this.#turns.push({ role, parts: [...parts], at })
  }

  get list(): readonly Turn[] {
    return this.#turns
  }

  get isEmpty(): boolean {
    return this.#turns.length === 0
  }
}

/** Returns the name of the tool that each call of a conversation names, by the id of the call. */
export function namesOfCalls(turns: readonly Turn[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { parts } of turns) for (const part of parts) if (part.kind === 'tool-call') names.set(part.id, part.name)
  return names
}
