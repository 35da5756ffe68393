// Proves the traffic with MCP servers by the official conformance suite: `npm run mcp-conformance`. The suite is a client of the gateway, in front of a
// reference server of each major of the official package, for both revisions. It needs no network.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startConformanceBed } from '../test/support/mcp/conformance-bed.ts'
import { startLegacyConformance } from '../test/support/mcp/conformance-legacy.ts'
import { startModernConformance } from '../test/support/mcp/conformance-modern.ts'
import { Report } from './report.ts'

const suite = path.join(import.meta.dirname, '../node_modules/@modelcontextprotocol/conformance/dist/index.js')
const report = new Report('MCP conformance')

/** Scenarios that no bridge between the eras can pass, and why. */
const exceptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'legacy 2026-07-28': {
    'input-required-result-basic-elicitation': 'it asks for the name of a question, and legacy servers give their questions none',
  },
}

const run = (args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [suite, ...args])
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.on('close', () => resolve(said))
  })

const results = await mkdtemp(path.join(tmpdir(), 'mcp-conformance-'))
for (const [era, start] of [
  ['modern', startModernConformance],
  ['legacy', startLegacyConformance],
] as const) {
  const server = await start()
  const bed = await startConformanceBed(`${server.origin}/mcp`)
  for (const revision of ['2026-07-28', '2025-11-25']) {
    const leg = `${era} ${revision}`
    const url = `${bed.origin.replace('127.0.0.1', 'localhost')}/mcp`
    const said = await run(['server', '--url', url, '--requirements', revision, '--timeout', '15000', '-o', path.join(results, leg)])
    const [, summary = ''] = said.split('SUMMARY ===')
    const [scored = '', unscored = ''] = summary.split('Not scored for')
    const notScored = new Set([...unscored.matchAll(/[✓✗] (\S+) \(/g)].map(([, name]) => name))
    const rows = [...scored.matchAll(/([✓✗]) (\S+): (\d+) passed, (\d+) failed/g)].filter(([, , name]) => !notScored.has(name))
    const failed = rows.flatMap(([, mark, name = '']) => (mark === '✗' ? [name] : []))
    const unexpected = failed.filter((name) => exceptions[leg]?.[name] === undefined)
    await report.check(`${leg}: ${rows.length - failed.length} of ${rows.length} scenarios`, async () => {
      if (rows.length === 0) throw new Error(said.slice(-2000))
      if (unexpected.length > 0) throw new Error(`failed: ${unexpected.join(', ')}`)
    })
    for (const name of failed) report.figure(leg, `${name}: ${exceptions[leg]?.[name] ?? 'unexpected'}`)
    process.stdout.write(
      `    not scored: ${[...unscored.matchAll(/([✓✗]) (\S+) \(/g)].map(([, mark, name]) => `${mark} ${name}`).join(', ')}\n`,
    )
  }
  await bed.stop()
  await server.stop()
}
await rm(results, { recursive: true })
report.end()
