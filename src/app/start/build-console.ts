import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import { findProjectPath } from '../database/project-path.ts'

/**
 * Builds the web console of a checkout in a process of its own, at low priority, once this process serves; an up-to-date console costs it one look
 * at the sources. An image has a built console and no sources of it.
 */
export function buildConsole(log: Logger): void {
  const file = findProjectPath('console/build.mjs')
  if (file === null) return
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => void (output = `${output}${chunk.toString()}`.slice(-4000)))
  child.on('error', (error) => log.warn({ err: error }, 'the console could not be built'))
  child.on('exit', (code) => {
    if (code === 0) log.info('the console is there')
    else log.warn({ code, output }, 'the console could not be built; run "npm run console:build"')
  })
  if (child.pid !== undefined) setPriority(child.pid, lowest)
  child.unref()
}

const lowest = 15
