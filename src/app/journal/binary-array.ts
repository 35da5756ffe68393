import { createByteWriter, type ByteWriter } from './byte-writer.ts'
import { cleanText, toCleanJson } from './clean-text.ts'

/** The values that a column of each PostgreSQL type is written from. Times are epoch milliseconds. */
export interface ColumnValues {
  readonly uuid: string
  readonly text: string
  readonly int4: number
  readonly int8: number
  readonly float4: number
  readonly bool: boolean
  readonly timestamptz: number
  readonly jsonb: object
  readonly bytea: Uint8Array
  /** A whole number that is not negative, in decimal digits. */
  readonly numeric: string
}

export type ColumnType = keyof ColumnValues

/** A column and how to read it from a row. */
export interface Column<Row, Name extends string = string, Value = unknown> {
  readonly name: Name
  readonly type: ColumnType
  readonly read: (row: Row) => Value
  readonly write: (writer: ByteWriter, row: Row) => void
}

/** Binds a column's name and type to the reader of its value in a row; null is NULL. */
export const column =
  <Row>() =>
  <Name extends string, Type extends ColumnType, Value extends ColumnValues[Type] | null>(
    name: Name,
    type: Type,
    read: (row: Row) => Value,
  ): Column<Row, Name, Value> => ({
    name,
    type,
    read,
    write(writer, row) {
      const value: ColumnValues[Type] | null = read(row)
      if (value === null) writer.int32(-1)
      else types[type].write(writer, value)
    },
  })

/** One column of a batch as a binary array, written row by row. */
export interface ArrayWriter<Row> {
  reset(): void
  add(row: Row): void
  /** The array of the `count` rows that were added; valid until `reset`. */
  finish(count: number): Buffer
}

const countAt = 12

/** A writer that keeps its memory between batches. */
export function createArrayWriter<Row>({ type, write }: Column<Row>): ArrayWriter<Row> {
  const writer = createByteWriter()
  const [dimensions, mayHoldNulls, unknownCount, lowerBound] = [1, 1, 0, 1]
  const header = [dimensions, mayHoldNulls, types[type].oid, unknownCount, lowerBound]
  return {
    reset() {
      writer.reset()
      for (const value of header) writer.int32(value)
    },
    add: (row) => write(writer, row),
    finish(count) {
      writer.int32At(count, countAt)
      return writer.written()
    },
  }
}

const int32 = { least: -0x8000_0000, most: 0x7fff_ffff }
/** 2000-01-01, from which PostgreSQL counts microseconds. */
const epochMs = 946_684_800_000
/** The first byte of the binary format of jsonb. */
const jsonbVersion = 1

const types: { readonly [Type in ColumnType]: { readonly oid: number; write(writer: ByteWriter, value: ColumnValues[Type]): void } } = {
  uuid: { oid: 2950, write: (writer, value) => writer.uuid(value) },
  text: { oid: 25, write: (writer, value) => writer.text(cleanText(value)) },
  int4: { oid: 23, write: (writer, value) => sized(writer, 4).int32(integer(value, int32)) },
  int8: { oid: 20, write: (writer, value) => sized(writer, 8).int64(integer(value, safe)) },
  float4: { oid: 700, write: (writer, value) => sized(writer, 4).float32(value) },
  bool: { oid: 16, write: (writer, value) => sized(writer, 1).byte(value ? 1 : 0) },
  timestamptz: { oid: 1184, write: (writer, value) => sized(writer, 8).int64(integer((value - epochMs) * 1000, safe)) },
  jsonb: { oid: 3802, write: (writer, value) => writer.text(toCleanJson(value), jsonbVersion) },
  bytea: { oid: 17, write: (writer, value) => sized(writer, value.length).bytes(value) },
  numeric: { oid: 1700, write: writeNumeric },
}

const safe = { least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER }

/** PostgreSQL's numbers of any size: groups of four decimal digits, the highest first, without groups of zeros at the end. */
function writeNumeric(writer: ByteWriter, value: string): void {
  const digits = value.padStart(Math.ceil(value.length / 4) * 4, '0')
  const groups = Array.from({ length: digits.length / 4 }, (_, index) => Number(digits.slice(index * 4, index * 4 + 4)))
  const first = groups.findIndex((group) => group !== 0)
  const kept = first === -1 ? [] : groups.slice(first, groups.findLastIndex((group) => group !== 0) + 1)
  const weight = first === -1 ? 0 : groups.length - 1 - first
  sized(writer, 8 + kept.length * 2)
  for (const short of [kept.length, weight, 0, 0, ...kept]) {
    writer.byte(short >> 8)
    writer.byte(short & 0xff)
  }
}

function sized(writer: ByteWriter, bytes: number): ByteWriter {
  writer.int32(bytes)
  return writer
}

/** Rounds a number and keeps it within bounds, because a provider may claim any count. */
const integer = (value: number, { least, most }: { least: number; most: number }) => Math.min(Math.max(Math.round(value), least), most)
