import { ByteWriter, ParquetWriter, schemaFromColumnData, type BasicType } from 'hyparquet-writer'
import type { ExportedValue, ValueType } from './export-fields.ts'
import type { Column, Piece, Row } from './pieces.ts'

/** The type of a column, and the values that it takes. */
const columnTypes: Readonly<Record<ValueType, { readonly type: BasicType; readonly of: (value: NonNullable<ExportedValue>) => unknown }>> =
  {
    text: { type: 'STRING', of: String },
    json: { type: 'STRING', of: String },
    time: { type: 'TIMESTAMP', of: (value) => new Date(String(value)) },
    whole: { type: 'INT64', of: (value) => BigInt(Math.round(Number(value))) },
    number: { type: 'DOUBLE', of: Number },
    boolean: { type: 'BOOLEAN', of: Boolean },
  }

const columnsOf = (columns: readonly Column[], rows: readonly Row[]) =>
  columns.map(({ name, type }, at) => ({
    name,
    type: columnTypes[type].type,
    nullable: true,
    // An index holds offsets from the end of the file, which another process may write.
    offsetIndex: false,
    data: rows.map((row) => {
      const value = row[at] ?? null
      return value === null ? null : columnTypes[type].of(value)
    }),
  }))

/** A writer that goes on at a place of the file. It writes no statistics: they would be kept with every part. */
function writerAt(columns: readonly Column[], offset: number) {
  const writer = new ByteWriter()
  // The constructor writes the begin of a file.
  const parquet = new ParquetWriter({
    writer,
    statistics: false,
    createdBy: 'gatehouse',
    schema: schemaFromColumnData({ columnData: columnsOf(columns, []) }),
  })
  if (offset > 0) Object.assign(writer, { index: 0, offset })
  return { writer, parquet }
}

/** Returns a group of rows, and its entry in the end of the file. */
export function rowGroup(rows: readonly Row[], columns: readonly Column[], offset: number): Piece {
  const { writer, parquet } = writerAt(columns, offset)
  if (rows.length === 0) return { bytes: bytesOf(writer), note: null }
  void parquet.write({ columnData: columnsOf(columns, rows), rowGroupSize: rows.length })
  return { bytes: bytesOf(writer), note: JSON.parse(JSON.stringify(parquet.row_groups[0], bigAsText)) }
}

/** Returns the end of the file, from the notes of its groups. */
export function fileEnd(notes: readonly unknown[], columns: readonly Column[], offset: number): Uint8Array {
  const { writer, parquet } = writerAt(columns, offset)
  const groups: typeof parquet.row_groups = notes.map((note) => JSON.parse(JSON.stringify(note), textAsBig))
  parquet.row_groups = groups
  parquet.num_rows = groups.reduce((sum, group) => sum + group.num_rows, 0n)
  void parquet.finish()
  return bytesOf(writer)
}

/** A copy, since the buffer of a writer is larger than the written bytes. */
const bytesOf = (writer: ByteWriter): Uint8Array => Uint8Array.from(writer.getBytes())

const bigAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)
const textAsBig = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value
