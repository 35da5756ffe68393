export interface Statement {
  readonly text: string
  /** Of its first word, counted from 1. */
  readonly line: number
}

/** Comments, strings, quoted names and dollar-quoted bodies are tokens, so that a semicolon within them ends nothing. */
const token =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|;|[^;'"$/\-eE]+|[\s\S]/g

/** Splits a migration file, so that a failure can be traced to its statement. Comments that stand alone are left out. */
export function splitStatements(sql: string): readonly Statement[] {
  const statements: Statement[] = []
  let text = ''
  let line = 1
  let start = 1
  const flush = () => {
    if (text.trim() !== '') statements.push({ text: text.trim(), line: start })
    text = ''
  }
  for (const [piece] of sql.matchAll(token)) {
    if (piece === ';') flush()
    else if (text.trim() !== '' || !isBlank(piece)) {
      if (text.trim() === '') start = line + leadingLines(piece)
      text += piece
    }
    line += piece.split('\n').length - 1
  }
  flush()
  return statements
}

const isBlank = (piece: string) => piece.trim() === '' || piece.startsWith('--') || piece.startsWith('/*')

const leadingLines = (piece: string) => (/^\s*/.exec(piece)?.[0] ?? '').split('\n').length - 1
