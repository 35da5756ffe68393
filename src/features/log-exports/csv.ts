import type { ExportedValue } from './export-fields.ts'

/** Returns a line of CSV (RFC 4180). */
export const csvLine = (cells: readonly ExportedValue[]): string => `${cells.map(cellOf).join(',')}\r\n`

/** Null is an empty cell, and so is an empty text in quotes another thing than null. */
function cellOf(cell: ExportedValue): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = withoutFormula(cell)
  return text === '' || /[",;\t|\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Spreadsheets take a text that begins so for a formula, and run it. An apostrophe before it makes it a text again. Many split lines at other
 * marks than commas, by the language of the reader, so that a cell of theirs can begin within one of ours.
 */
const withoutFormula = (text: string): string =>
  isNumber(text) ? text : text.replaceAll(/(^[\t\r]?|[;|\t\r\n] *)(?=[=+\-@＝＋－＠])|^(?=[\t\r])/g, "$1'")

const isNumber = (text: string): boolean => /^-\d+(?:\.\d+)?$/.test(text)
