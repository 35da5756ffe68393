export interface Statement {
  readonly text: string
  /** The line of its first word, counted from 1. */
  readonly line: number
}

/** Comments, strings, quoted names and dollar-quoted bodies are tokens, so that a semicolon within them ends no statement. */
const token =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|;|[^;'"$/\-eE]+|[\s\S]/g

/** Splits a migration file, so that a failure can be traced to its statement. Comments that stand alone are left out. */
export function splitStatements(sql: string): readonly Statement[] {
  const statements: Statement[] = []
  const lineAt = lineCounter(sql)
  /** Place where the statement of now begins; null between two of them. */
  let begin: number | null = null
  const endAt = (end: number) => {
    if (begin !== null) statements.push({ text: sql.slice(begin, end).trimEnd(), line: lineAt(begin) })
    begin = null
  }
  for (const { 0: piece, index } of sql.matchAll(token)) {
    if (piece === ';') endAt(index)
    else if (begin === null && !isBlank(piece)) begin = index + leadingBlanks(piece)
  }
  endAt(sql.length)
  return statements
}

const isBlank = (piece: string) => piece.startsWith('--') || piece.startsWith('/*') || !/\S/.test(piece)

const leadingBlanks = (piece: string) => piece.length - piece.trimStart().length

/** Returns the line of each position, asked in ascending order. */
function lineCounter(text: string): (position: number) => number {
  let line = 1
  let from = 0
  return (position) => {
    for (let at = text.indexOf('\n', from); at !== -1 && at < position; at = text.indexOf('\n', from)) {
      line += 1
      from = at + 1
    }
    return line
  }
}
