import { p, Type } from '@mikro-orm/core'
import { isBuiltWith } from '../../config/version.ts'
import { formatPico, parsePico } from '../../lib/pico.ts'

/** How a column holds amounts. */
interface Form {
  readonly type: string
  readonly write: (pico: bigint) => string
  readonly read: (stored: string) => bigint
  readonly select: (column: string) => string
}

/** An amount: pico-units in the process, decimals or pico-units in the database. */
export class AmountType extends Type<bigint | null, string | null> {
  /** The name by which people know the column. */
  readonly known: string
  readonly form: Form

  constructor(known: string, form: Form) {
    super()
    this.known = known
    this.form = form
  }

  override convertToDatabaseValue(value: bigint | null): string | null {
    return value === null ? null : this.form.write(value)
  }

  override convertToJSValue(stored: string | null): bigint | null {
    return stored === null ? null : this.form.read(stored)
  }

  override convertToJSValueSQL(column: string): string {
    return this.form.select(column)
  }

  override compareAsType(): string {
    return 'string'
  }

  override getColumnType(): string {
    return this.form.type
  }
}

/** US dollars or tokens, to the billionth: also the columns of limits in builds before 1.11.0. */
const decimal: Form = { type: 'numeric(20, 9)', write: formatPico, read: parsePico, select: (column) => column }

/**
 * Whole pico-units. A row that the backfill has not reached is read from the former column, for which it is looked at as JSON, so that the
 * same statement serves after `finalize` has dropped that column.
 */
const pico = (former: string): Form => ({
  type: 'numeric(30, 0)',
  write: String,
  read: BigInt,
  select: (column) =>
    `coalesce(${column}, (to_jsonb(${column.slice(0, column.lastIndexOf('.'))}) ->> '${former}')::numeric * 1e12)::numeric(30, 0)`,
})

/** The column of an amount with nine digits behind the point, which has no other form. */
export const decimalAmount = (name: string) => p.type(new AmountType(name, decimal)).$type<bigint>().fieldName(name)

/** The columns of whole amounts. */
const whole = { since: '1.11.0' }

/** The column of an amount, by the name that it had before 1.11.0 made the amounts of policies whole numbers. */
export function amount(name: string) {
  const isWhole = isBuiltWith(whole.since)
  return p
    .type(new AmountType(name, isWhole ? pico(name) : decimal))
    .$type<bigint>()
    .fieldName(isWhole ? `${name}_pico` : name)
}
