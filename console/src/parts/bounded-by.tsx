import { spentOf } from './amounts.ts'
import { rateWords } from './form/rates-field.tsx'

/** A limit above a key or a provider. */
interface Bound {
  readonly owner_id: string
  readonly owner_name: string
  readonly group: string | null
  readonly kind: 'rate' | 'usage'
  readonly type: string
  readonly unit: string | null
  readonly spent: number
  readonly limit: number
  readonly conditional: boolean
}

/** The limits above a key or a provider, the tightest first. */
export const BoundedBy = ({ bounds }: { readonly bounds: readonly Bound[] }) => (
  <>
    <h2>Bounded by</h2>
    <ul aria-label="Bounded by">
      {bounds.map((bound) => (
        <li key={`${bound.owner_id}${bound.kind}${bound.type}${bound.unit}${bound.group}`} className="text-of-data">
          {bound.owner_name}: {boundWords(bound)}
          {bound.conditional && ' (for some requests)'}
        </li>
      ))}
    </ul>
  </>
)

const boundWords = (bound: Bound): string =>
  bound.kind === 'rate' ? rateWords({ type: bound.type, unit: bound.unit ?? '', value: bound.limit }) : spentOf(bound)
