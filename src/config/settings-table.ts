import { settingNames, settings, type SettingName } from './settings.ts'

/** Every setting as a Markdown table, in the order of the specification of settings. */
export function settingsTable(): string {
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
