// Writes what the documents say of the code: the settings table of README.md. With `--check` it changes nothing and fails on drift.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { settingsTable } from '../src/config/index.ts'

const readme = path.resolve(import.meta.dirname, '..', 'README.md')
const start = '<!-- settings:start -->'
const end = '<!-- settings:end -->'

/** The text with what lies between the markers replaced; the markers are added at the end where they are missing. */
function withSettings(text: string): string {
  const marked = text.includes(start) && text.includes(end) ? text : `${text.trimEnd()}\n\n## Settings\n\n${start}\n${end}\n`
  return `${marked.slice(0, marked.indexOf(start) + start.length)}\n${settingsTable()}\n${marked.slice(marked.indexOf(end))}`
}

const current = existsSync(readme) ? readFileSync(readme, 'utf8') : '# Gatehouse\n'
const generated = withSettings(current)
if (generated === current) {
  process.exitCode = 0
} else if (process.argv.includes('--check')) {
  console.error('README.md does not hold the current settings: run "npm run docs:generate".')
  process.exitCode = 1
} else {
  writeFileSync(readme, generated)
  console.log('README.md: settings written')
}
