// Brings promtool into .tools/, for the tests of metrics and alerts: `node scripts/promtool.ts`. The machine's own is taken when it
// has one; else it comes from Debian's package, unpacked and not installed.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const tools = path.resolve(import.meta.dirname, '..', '.tools')
const target = path.join(tools, 'promtool')
const run = promisify(execFile)

/** Returns the path of promtool, which is fetched when it is missing; or why there is none. */
export async function providePromtool(): Promise<{ readonly program: string } | { readonly missing: string }> {
  const installed = (process.env['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, 'promtool'))
  const found = [...installed, target].find(existsSync)
  if (found !== undefined) return { program: found }
  try {
    await mkdir(tools, { recursive: true })
    return { program: await fetchFromDebian() }
  } catch (error) {
    return { missing: `promtool cannot be had from Debian's packages: ${error instanceof Error ? error.message : String(error)}` }
  }
}

async function fetchFromDebian(): Promise<string> {
  const scratch = await mkdtemp(path.join(tools, 'promtool-'))
  try {
    await run('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', 'prometheus'], { cwd: scratch, timeout: 120_000 })
    const archive = (await readdir(scratch)).find((name) => name.endsWith('.deb')) ?? ''
    await run('dpkg-deb', ['--extract', archive, 'unpacked'], { cwd: scratch })
    await rename(path.join(scratch, 'unpacked/usr/bin/promtool'), target)
    return target
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

if (import.meta.main) console.log(await providePromtool())
