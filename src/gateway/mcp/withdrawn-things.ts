import type { CapabilityKind } from '../../lib/mcp-definition.ts'
import { nameLikenesses, uriLikenesses } from '../../lib/text/likenesses.ts'
import type { UriForm } from '../../lib/text/uri-forms.ts'
import { formCost, isAddress, mostFormCost } from './form-costs.ts'
import { fitsTemplate, type MatchBudget, readTemplate, type UriTemplate } from '../../lib/text/uri-template.ts'

/** A thing that may not be used. */
export interface WithdrawnThing {
  readonly kind: CapabilityKind
  readonly name: string
  readonly decision: Withdrawal
}

/** `held`: it waits for an approval. */
export type Withdrawal = 'not_allowed' | 'held'

/** So many places are looked at for one decision: a millisecond. */
export const mostPlaces = 20_000
/**
 * Returns a function that decides on the name of a thing without a rule: whether a server may take it for a thing that is withdrawn, because it overlooks
 * a difference. `isOpen`: a thing without a rule may be used, so that without withdrawn things no form matters; else a form may leave the template that
 * opens it. Null: it does not; a name that cannot be compared with all is `not_allowed`. The forms of the things are made once, when they are first asked for.
 */
export function withdrawalFinder(
  things: readonly WithdrawnThing[],
  { isOpen }: { readonly isOpen: boolean },
): (kind: CapabilityKind, name: string) => Withdrawal | null {
  let known: KnownForms | null = null
  return (kind, name) => {
    known ??= formsOf(things)
    if (isOpen && hasNone(known, kind)) return null
    const found = isAddress(kind) ? uriWithdrawals(known, kind, name) : nameWithdrawals(known, kind, name)
    if (found === null || found.includes('not_allowed')) return 'not_allowed'
    return found[0] ?? null
  }
}

/** The forms of all withdrawn things. */
interface KnownForms {
  /** False: there were too many to make them all. */
  readonly areWhole: boolean
  readonly names: ReadonlyMap<string, readonly Withdrawal[]>
  readonly addresses: ReadonlyMap<string, readonly KnownAddress[]>
  readonly templates: readonly KnownTemplate[]
}

/** An address with a base: one that is asked meets it if it has all of its parameters. */
interface KnownAddress {
  readonly params: readonly string[]
  readonly decision: Withdrawal
}

interface KnownTemplate {
  readonly base: UriTemplate
  readonly params: readonly UriTemplate[]
  readonly decision: Withdrawal
}

/** Returns whether no thing is there with which a name could be compared: its forms need not be made. */
const hasNone = ({ areWhole, names, addresses, templates }: KnownForms, kind: CapabilityKind): boolean =>
  areWhole && (isAddress(kind) ? addresses.size === 0 && templates.length === 0 : names.size === 0)

const keyOf = (kind: CapabilityKind, form: string): string => `${kind} ${form}`

function formsOf(things: readonly WithdrawnThing[]): KnownForms {
  const names = new Map<string, Withdrawal[]>()
  const addresses = new Map<string, KnownAddress[]>()
  const templates: KnownTemplate[] = []
  let left = mostFormCost
  for (const { kind, name, decision } of things) {
    left -= formCost(kind, name)
    if (left < 0) break
    if (!isAddress(kind)) for (const form of nameLikenesses(name).forms) push(names, keyOf(kind, form), decision)
    else for (const { base, params } of uriLikenesses(name).forms) push(addresses, keyOf(kind, base), { params, decision })
    if (kind === 'resource_template') for (const form of templateForms(name)) templates.push({ ...form, decision })
  }
  return { areWhole: left >= 0, names, addresses, templates }
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}

/** Stand for the expressions of a template, which has forms like an address then. */
const [wide, narrow] = ['gatehouse7wide7', 'gatehouse7narrow7']

const read = (form: string): UriTemplate | null => readTemplate(form.replaceAll(wide, '{+v}').replaceAll(narrow, '{v}'))

/** In place of a parameter that is too long to be compared. */
const anything: UriTemplate = [{ wide: true }]

function templateForms(template: string): readonly Omit<KnownTemplate, 'decision'>[] {
  const filled = template.replaceAll(/\{[^{}]*\}/g, (expression) => (/^\{[+#/?&]/.test(expression) ? wide : narrow))
  return uriLikenesses(filled).forms.flatMap((form) => {
    const base = read(form.base)
    return base === null ? [] : [{ base, params: form.params.map((param) => read(param) ?? anything) }]
  })
}

function nameWithdrawals({ areWhole, names }: KnownForms, kind: CapabilityKind, name: string): readonly Withdrawal[] | null {
  const { forms, isWhole } = nameLikenesses(name)
  return isWhole && areWhole ? forms.flatMap((form) => names.get(keyOf(kind, form)) ?? []) : null
}

function uriWithdrawals(known: KnownForms, kind: CapabilityKind, uri: string): readonly Withdrawal[] | null {
  const { forms, isWhole } = uriLikenesses(uri)
  if (!isWhole || !known.areWhole) return null
  const kinds = kind === 'resource_template' ? ([kind, 'resource'] as const) : [kind]
  const budget = { places: mostPlaces }
  const found: Withdrawal[] = []
  for (const form of forms) {
    const params = new Set(form.params)
    for (const { params: wanted, decision } of kinds.flatMap((one) => known.addresses.get(keyOf(one, form.base)) ?? [])) {
      budget.places -= wanted.length + 1
      if (budget.places < 0) return null
      if (wanted.every((param) => params.has(param))) found.push(decision)
    }
    for (const template of known.templates) {
      const fits = fitsForm(template, form, budget)
      if (fits === null) return null
      if (fits) found.push(template.decision)
    }
  }
  return found
}

/** Returns whether a form could be made of a template; null: it cannot be told. */
function fitsForm(template: KnownTemplate, form: UriForm, budget: MatchBudget): boolean | null {
  const bases = form.isFolder ? [form.base, `${form.base}/`] : [form.base]
  const fits = anyFits(template.base, bases, budget)
  if (fits !== true) return fits
  for (const param of template.params) {
    const has = anyFits(param, form.params, budget)
    if (has !== true) return has
  }
  return true
}

function anyFits(template: UriTemplate, texts: readonly string[], budget: MatchBudget): boolean | null {
  for (const text of texts) {
    const fits = fitsTemplate(template, text, budget)
    if (fits !== false) return fits
  }
  return false
}
