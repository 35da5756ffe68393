import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import test, { type TestFn } from 'ava'
import { providePromtool } from '../../scripts/promtool.ts'

const provided = await providePromtool()

if ('missing' in provided) console.error(`SKIPPED: every test that needs promtool, because ${provided.missing}`)

/** `test`, and a test that counts as skipped on machines where promtool cannot be had. */
export const promtoolTest: TestFn = 'missing' in provided ? (test.skip as TestFn) : test

/** Runs promtool with the input; returns its exit code and everything that it printed. */
export async function promtool(args: readonly string[], input = ''): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn('missing' in provided ? '' : provided.program, args, { stdio: 'pipe' })
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode ?? -1, output: stdout + stderr }
}
