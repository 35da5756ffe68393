import type { Fields } from '../../../lib/json/fields.ts'
import { type ParamHeader, paramHeadersOfTool } from '../protocol/named-headers.ts'

/** The arguments that the tools of a server want repeated in headers, as its last list has shown them. */
export interface KnownParams {
  get(tool: string): readonly ParamHeader[] | undefined
  /** Notes one page of a list. The first one takes the place of all that was known. */
  note(tools: readonly Fields[], isFirst: boolean): void
  /** About how many bytes they take. */
  bytes(): number
}

/** Tools beyond these are not known: their calls read the list again. */
const most = { tools: 1000, bytes: 256 * 1024 }

export function createKnownParams(): KnownParams {
  const known = new Map<string, { readonly wanted: readonly ParamHeader[]; readonly bytes: number }>()
  let bytes = 0

  function forget(name: string): void {
    bytes -= known.get(name)?.bytes ?? 0
    known.delete(name)
  }

  function note(tool: Fields): void {
    const name = String(tool['name'])
    forget(name)
    const wanted = paramHeadersOfTool(tool['inputSchema'])
    const size = JSON.stringify([name, wanted]).length
    if (wanted.length === 0 || known.size >= most.tools || bytes + size > most.bytes) return
    known.set(name, { wanted, bytes: size })
    bytes += size
  }

  return {
    get: (tool) => known.get(tool)?.wanted,
    note(tools, isFirst) {
      if (isFirst) for (const name of known.keys()) forget(name)
      for (const tool of tools) note(tool)
    },
    bytes: () => bytes,
  }
}
