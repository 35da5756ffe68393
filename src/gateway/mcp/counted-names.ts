import type { CapabilityKind } from '../../lib/mcp-definition.ts'
import { longestName, nameLikenesses, uriLikenesses } from '../../lib/text/likenesses.ts'
import { uriText } from '../../lib/text/thing-forms.ts'
import { formCost, isAddress, mostFormCost } from './form-costs.ts'

interface NamedThing {
  readonly kind: CapabilityKind
  readonly name: string
}

/**
 * Returns a function that gives the name under which a thing counts: its own if it is known, else that of the known thing for which its server may take
 * it, else its likeness. All spellings of one thing count together.
 */
export function countedNameFinder(things: readonly NamedThing[]): (kind: CapabilityKind, name: string) => string {
  const known = new Set(things.map(({ kind, name }) => keyOf(kind, name)))
  let alike: ReadonlyMap<string, string> | null = null
  return (kind, name) => {
    if (known.has(keyOf(kind, name)) || name.length > longestName) return name
    alike ??= namesByForm(things)
    const forms = formsOf(kind, name)
    for (const form of forms) {
      const found = alike.get(keyOf(kind, form))
      if (found !== undefined) return found
    }
    return forms[0] ?? name
  }
}

const keyOf = (kind: CapabilityKind, name: string): string => `${kind} ${name}`

const formsOf = (kind: CapabilityKind, name: string): readonly string[] =>
  isAddress(kind) ? uriLikenesses(name).forms.map(uriText) : nameLikenesses(name).forms

/** Of several things that are alike, the first by name: each process finds the same one. */
function namesByForm(things: readonly NamedThing[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  let left = mostFormCost
  for (const { kind, name } of things.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    left -= formCost(kind, name)
    if (left < 0) break
    for (const form of formsOf(kind, name)) if (!found.has(keyOf(kind, form))) found.set(keyOf(kind, form), name)
  }
  return found
}
