import type { ByteWriter } from './byte-writer.ts'
import { cleanText, toCleanJson } from './clean-text.ts'

/** The values that a column of each PostgreSQL type is written from. Times are epoch milliseconds. */
interface ColumnValues {
  readonly uuid: string
  readonly text: string
  readonly int4: number
  readonly int8: number
  readonly float4: number
  readonly bool: boolean
  readonly timestamptz: number
  readonly jsonb: Readonly<Record<string, string | number>>
  readonly bytea: Uint8Array
}

export type ColumnType = keyof ColumnValues

/** A column and how to read it from a row. */
export interface Column<Row> {
  readonly name: string
  readonly type: ColumnType
  readonly write: (writer: ByteWriter, row: Row) => void
}

/** Binds a column's name and type to what it takes from a row; null is NULL. */
export const column =
  <Row>() =>
  <Type extends ColumnType>(name: string, type: Type, read: (row: Row) => ColumnValues[Type] | null): Column<Row> => ({
    name,
    type,
    write(writer, row) {
      const value = read(row)
      if (value === null) writer.int32(-1)
      else types[type].write(writer, value)
    },
  })

/** Writes one column of all rows as an array; returns where it begins. */
export function writeArray<Row>(writer: ByteWriter, { type, write }: Column<Row>, rows: readonly Row[]): number {
  const start = writer.length
  const [dimensions, mayHoldNulls, lowerBound] = [1, 1, 1]
  for (const header of [dimensions, mayHoldNulls, types[type].oid, rows.length, lowerBound]) writer.int32(header)
  for (const row of rows) write(writer, row)
  return start
}

const int32 = { least: -0x8000_0000, most: 0x7fff_ffff }
/** 2000-01-01, from which PostgreSQL counts microseconds. */
const epochMs = 946_684_800_000
/** The first byte of the binary format of jsonb. */
const jsonbVersion = 1

const types: { readonly [Type in ColumnType]: { readonly oid: number; write(writer: ByteWriter, value: ColumnValues[Type]): void } } = {
  uuid: { oid: 2950, write: writeUuid },
  text: { oid: 25, write: (writer, value) => writer.text(cleanText(value)) },
  int4: { oid: 23, write: (writer, value) => sized(writer, 4).int32(integer(value, int32)) },
  int8: { oid: 20, write: (writer, value) => sized(writer, 8).int64(integer(value, safe)) },
  float4: { oid: 700, write: (writer, value) => sized(writer, 4).float32(value) },
  bool: { oid: 16, write: (writer, value) => sized(writer, 1).byte(value ? 1 : 0) },
  timestamptz: { oid: 1184, write: (writer, value) => sized(writer, 8).int64(integer((value - epochMs) * 1000, safe)) },
  jsonb: { oid: 3802, write: (writer, value) => writer.text(toCleanJson(value), jsonbVersion) },
  bytea: { oid: 17, write: (writer, value) => sized(writer, value.length).bytes(value) },
}

const safe = { least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER }

function sized(writer: ByteWriter, bytes: number): ByteWriter {
  writer.int32(bytes)
  return writer
}

/** What a provider claims to have counted may be any number. */
const integer = (value: number, { least, most }: { least: number; most: number }) => Math.min(Math.max(Math.round(value), least), most)

const nibbles = new Int8Array(128).fill(-1)
for (const [index, digit] of Array.from('0123456789abcdef').entries()) {
  nibbles[digit.charCodeAt(0)] = index
  nibbles[digit.toUpperCase().charCodeAt(0)] = index
}

function writeUuid(writer: ByteWriter, value: string): void {
  const digits = value.replaceAll('-', '')
  if (digits.length !== 32) throw new Error('not a UUID')
  writer.int32(16)
  for (let at = 0; at < 32; at += 2) {
    const byte = (nibbles[digits.charCodeAt(at)] ?? -1) * 16 + (nibbles[digits.charCodeAt(at + 1)] ?? -1)
    if (byte < 0) throw new Error('not a UUID')
    writer.byte(byte)
  }
}
