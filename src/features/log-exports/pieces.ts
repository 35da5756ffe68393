import type { ExportedValue, ValueType } from './export-fields.ts'

/** A column of a file, or a field of a line. */
export interface Column {
  readonly name: string
  readonly type: ValueType
}

/** The values of a row, in the order of the columns. */
export type Row = readonly ExportedValue[]

/** A piece of a file. */
export interface Piece {
  readonly bytes: Uint8Array
  /** For the end of the file, which lists every piece; null: it does not. */
  readonly note: unknown
}

/** Returns about how many bytes a row takes. */
export const sizeOf = (row: Row): number => row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
