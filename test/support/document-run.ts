import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { DocumentBlock } from './document-blocks.ts'
import type { DocumentStage } from './document-stage.ts'

/** Runs blocks one after the other in one shell, as a reader would; the first command that fails ends it. */
export async function runBlocks(blocks: readonly DocumentBlock[], stage: DocumentStage) {
  const script = blocks.map(({ line, commands }) => `echo '--- line ${line}'\n${commands}`).join('\n')
  const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-s'], { cwd: stage.folder, env: stage.env, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  shell.stdin.end(`${script}\n`)
  await once(shell, 'close')
  return { code: shell.exitCode, output }
}
