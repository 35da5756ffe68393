import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'

const root = path.resolve(import.meta.dirname, '..')

/** A script of package.json, and how it is run. */
export interface ScriptRun {
  readonly script: string
  readonly args?: readonly string[]
  /** Settings beside those of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/** The result of a script; `skipped` has the lines of the checks that the machine could not run. */
export interface ScriptResult {
  readonly passed: boolean
  readonly skipped: readonly string[]
}

const skip = /^(?:SKIPPED\b|\s*- \[skip\])/

/** Runs a script of package.json, with its output on ours. */
export async function runScript({ script, args = [], env = {} }: ScriptRun): Promise<ScriptResult> {
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const skipped: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line)
    if (skip.test(line)) skipped.push(line.trim())
  }
  const [code]: unknown[] = await ended
  return { passed: code === 0, skipped }
}
