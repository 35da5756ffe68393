import { csvLine } from './csv.ts'
import type { LogExport } from './log-export.entity.ts'
import type { Column, Piece, Row } from './pieces.ts'
import { fileEnd, rowGroup } from './parquet.ts'

/** How rows become a file, some at a time: each piece can be made by another process than the one before. */
export interface Format {
  readonly type: string
  readonly extension: string
  /** Makes the piece that begins at `offset` of the file. */
  piece(rows: readonly Row[], columns: readonly Column[], offset: number): Piece
  /** Makes the bytes behind the last piece, from the notes of all. */
  readonly end?: (notes: readonly unknown[], columns: readonly Column[], offset: number) => Uint8Array
}

export const formats: Readonly<Record<LogExport['format'], Format>> = {
  jsonl: {
    type: 'application/jsonl',
    extension: 'jsonl',
    piece: (rows, columns) => ({ bytes: Buffer.from(rows.map((row) => `${lineOf(row, columns)}\n`).join('')), note: null }),
  },
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    piece: (rows, columns, offset) => ({
      bytes: Buffer.from((offset === 0 ? csvLine(columns.map(({ name }) => name)) : '') + rows.map(csvLine).join('')),
      note: null,
    }),
  },
  parquet: { type: 'application/vnd.apache.parquet', extension: 'parquet', piece: rowGroup, end: fileEnd },
}

/** Values of the type `json` are JSON already. */
const lineOf = (row: Row, columns: readonly Column[]): string =>
  `{${columns.map(({ name, type }, at) => `"${name}":${type === 'json' ? row[at] : JSON.stringify(row[at] ?? null)}`).join(',')}}`
