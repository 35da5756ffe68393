import { readFileSync } from 'node:fs'

/** A block of commands in a document: ```sh, with what it needs besides a shell, such as ```sh needs=helm,server. */
export interface DocumentBlock {
  /** The line of its first command. */
  readonly line: number
  readonly commands: string
  readonly needs: readonly string[]
  /** Its expected standard output, to the last byte: the ```text output that follows it. Null: there is none. */
  readonly output: string | null
}

/** The blocks of a document that a reader would run; other languages, such as `text` and `yaml`, are for reading. */
export function documentBlocks(file: string): readonly DocumentBlock[] {
  const blocks: DocumentBlock[] = []
  let open: { readonly line: number; readonly info: string; readonly lines: string[] } | null = null
  for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const fence = /^ *```(.*)$/.exec(line)
    if (fence === null) open?.lines.push(line)
    else if (open === null) open = { line: at + 2, info: fence[1]?.trim() ?? '', lines: [] }
    else {
      const text = open.lines.join('\n')
      if (/^sh\b/.test(open.info)) blocks.push({ line: open.line, commands: text, needs: needsOf(open.info), output: null })
      const asked = open.info === 'text output' ? blocks.pop() : undefined
      if (asked !== undefined) blocks.push({ ...asked, output: `${text}\n` })
      open = null
    }
  }
  return blocks
}

const needsOf = (info: string) => /\bneeds=(\S+)/.exec(info)?.[1]?.split(',') ?? []
