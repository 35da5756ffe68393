import type { ExportedValue } from '../export-fields.ts'
import type { Column, Row } from '../pieces.ts'
import type { Charge } from './charges.ts'
import { dollars, inUnitsOf } from './decimals.ts'

/** The period of charges, in epoch milliseconds, and whose they are. */
export interface Period {
  readonly start: number
  readonly end: number
  readonly organisation: { readonly id: string; readonly name: string }
}

type ColumnValue = (charge: Charge, period: Period) => ExportedValue

const always =
  (text: string | null): ColumnValue =>
  () =>
    text
const iso = (ms: number): string => new Date(ms).toISOString()
const monthOf = (ms: number, more: number): number => Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth() + more)

/** How many counted units one rate is for, and the name of these. */
const pricedBy: readonly (readonly [ending: RegExp, unit: string, per: bigint])[] = [
  [/second$/, 'Seconds', 1000n],
  [/minute$/, 'Minutes', 60_000n],
  [/hour$/, 'Hours', 3_600_000n],
  [/^megapixel$/, 'Megapixels', 1_000_000n],
]
const pricingOf = ({ dimension, unit }: Charge) => {
  const found = pricedBy.find(([ending]) => ending.test(dimension ?? ''))
  return { unit: found?.[1] ?? plural(unit), per: found?.[2] ?? 1n }
}

/** `Search Units` of `search unit`. */
const plural = (unit: string | null): string => `${(unit ?? 'request').replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())}s`

const cost: ColumnValue = ({ amount }) => dollars(BigInt(amount))
const unitPrice: ColumnValue = ({ rate }) => (rate === null ? null : dollars(BigInt(rate)))
const provider: ColumnValue = (charge) => charge.provider

/** The columns of FOCUS 1.2, in the order of their names, and then our own. Amounts are decimal texts, so that no digit is lost. */
const columns: Readonly<Record<string, ColumnValue>> = {
  BilledCost: cost,
  BillingAccountId: (_, { organisation }) => organisation.id,
  BillingAccountName: (_, { organisation }) => organisation.name,
  BillingAccountType: always('Organisation'),
  BillingCurrency: always('USD'),
  BillingPeriodEnd: (_, { start }) => iso(monthOf(start, 1)),
  BillingPeriodStart: (_, { start }) => iso(monthOf(start, 0)),
  ChargeCategory: always('Usage'),
  ChargeClass: ({ is_correction: isCorrection }) => (isCorrection ? 'Correction' : null),
  ChargeDescription: ({ provider: of, model, dimension, is_correction: isCorrection }) =>
    `${of ?? 'unknown provider'} ${model ?? 'unknown model'}: ${isCorrection ? 'recomputed cost' : (dimension ?? 'request').replaceAll('_', ' ')}`,
  ChargeFrequency: always('Usage-Based'),
  ChargePeriodEnd: (_, { end }) => iso(end),
  ChargePeriodStart: (_, { start }) => iso(start),
  ConsumedQuantity: ({ count, is_correction: isCorrection }) => (isCorrection ? null : count),
  ConsumedUnit: ({ unit, is_correction: isCorrection }) => (isCorrection ? null : plural(unit)),
  ContractedCost: cost,
  ContractedUnitPrice: unitPrice,
  EffectiveCost: cost,
  InvoiceIssuerName: provider,
  ListCost: cost,
  ListUnitPrice: unitPrice,
  PricingCategory: always('Standard'),
  PricingCurrency: always('USD'),
  PricingQuantity: (charge) => (charge.is_correction ? null : inUnitsOf(BigInt(charge.count), pricingOf(charge).per)),
  PricingUnit: (charge) => (charge.is_correction ? null : pricingOf(charge).unit),
  ProviderName: provider,
  PublisherName: provider,
  RegionId: always(null),
  RegionName: always(null),
  ResourceId: (charge) => charge.api_key_id,
  ResourceName: (charge) => charge.api_key_name,
  ResourceType: always('API key'),
  ServiceCategory: always('AI and Machine Learning'),
  ServiceName: provider,
  ServiceSubcategory: always('Generative AI'),
  SkuId: ({ provider: of, model }) => (of === null || model === null ? null : `${of}/${model}`),
  SkuMeter: (charge) => charge.dimension,
  SkuPriceDetails: always(null),
  SkuPriceId: (charge) => charge.catalogue,
  SubAccountId: (charge) => charge.workspace_id,
  SubAccountName: (charge) => charge.workspace_name,
  SubAccountType: always('Workspace'),
  Tags: ({ tags }) => tags,
  x_PriceSource: (charge) => charge.source,
  x_PriceState: ({ state }) => state,
  x_ProviderSlug: (charge) => charge.provider_slug,
  x_Requests: ({ requests }) => Number(requests),
}

const times: ReadonlySet<string> = new Set(['BillingPeriodEnd', 'BillingPeriodStart', 'ChargePeriodEnd', 'ChargePeriodStart'])

const typeOf = (name: string): Column['type'] =>
  times.has(name) ? 'time' : name === 'Tags' ? 'json' : name === 'x_Requests' ? 'whole' : 'text'

export const focusColumns: readonly Column[] = Object.keys(columns).map((name) => ({ name, type: typeOf(name) }))

/** Returns the row of a charge. */
export const focusRow = (charge: Charge, period: Period): Row => Object.values(columns).map((of) => of(charge, period))
