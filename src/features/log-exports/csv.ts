import type { ExportedValue } from './export-fields.ts'

/** Returns a line of CSV (RFC 4180). */
export const csvLine = (cells: readonly ExportedValue[]): string => `${cells.map(cellOf).join(',')}\r\n`

/** Null is an empty cell, and so is an empty text in quotes another thing than null. */
function cellOf(cell: ExportedValue): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = withoutFormula(cell)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Spreadsheets take a text that begins so for a formula, and run it. An apostrophe before it makes it a text again. */
const withoutFormula = (text: string): string => (/^[=+\-@\t\r]/.test(text) && !isNumber(text) ? `'${text}` : text)

const isNumber = (text: string): boolean => /^-\d+(?:\.\d+)?$/.test(text)
