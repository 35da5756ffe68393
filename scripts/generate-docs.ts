// Writes what the documents say of the code: the settings table of README.md. With `--check` it changes nothing and fails on drift.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { settingNames, settings, type SettingName } from '../src/config/index.ts'

const readme = path.resolve(import.meta.dirname, '..', 'README.md')
const start = '<!-- settings:start -->'
const end = '<!-- settings:end -->'

/** The settings as a Markdown table, in the order of their specification. */
function settingsTable(): string {
  const title = ['| Setting | Type | Default | What it does | Since |', '| --- | --- | --- | --- | --- |']
  const note = 'Durations are written `500ms`, `30s`, `15m`, `1h` or `1d`; a bare number is milliseconds. An empty value counts as unset.'
  const secrets = 'A secret is never logged, and a file that holds it can be named in `NAME_FILE` instead.'
  return [note, secrets, '', ...title, ...settingNames.map(row)].join('\n')
}

function row(name: SettingName): string {
  const { kind, otherwise, desc, since } = settings[name]
  const shown = otherwise ? `\`${otherwise}\`` : ''
  return `| ${[`\`${name}\``, kind, shown, desc, since].map(cell).join(' | ')} |`
}

const cell = (text: string) => text.replaceAll('|', String.raw`\|`)

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
