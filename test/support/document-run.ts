import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { DocumentBlock } from './document-blocks.ts'
import type { DocumentStage } from './document-stage.ts'

/** The outcome of the blocks of a document. */
export interface BlocksRun {
  readonly code: number | null
  readonly output: string
  /** The real output of the blocks with an expected one. */
  readonly printed: readonly { readonly block: DocumentBlock; readonly text: string }[]
}

/** Runs blocks one after the other in one shell, as a reader would; the first command that fails ends it. */
export async function runBlocks(blocks: readonly DocumentBlock[], stage: Pick<DocumentStage, 'folder' | 'env'>): Promise<BlocksRun> {
  const fileOf = ({ line }: DocumentBlock) => path.join(stage.folder, `.printed-${line}`)
  // Braces, and no shell of its own: variables that a block exports are there in the next one.
  const script = blocks.map((block) => {
    const commands = block.output === null ? block.commands : `{\n${block.commands}\n} > '${fileOf(block)}'\ncat '${fileOf(block)}'`
    return `echo '--- line ${block.line}'\n${commands}`
  })
  const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-s'], { cwd: stage.folder, env: stage.env, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  shell.stdin.end(`${script.join('\n')}\n`)
  await once(shell, 'close')
  const told = blocks.filter((block) => block.output !== null && existsSync(fileOf(block)))
  return { code: shell.exitCode, output, printed: told.map((block) => ({ block, text: readFileSync(fileOf(block), 'utf8') })) }
}
