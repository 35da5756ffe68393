import type { ReleaseRecord } from './record.ts'

/** What changes for an operator who passes over these releases, newest first, as Markdown; what needs care comes before. */
export function notes(releases: readonly ReleaseRecord[]): string {
  const care = releases.flatMap((release) => warnings(release).map((line) => `- ${release.version}: ${line}`))
  return [...(care.length > 0 ? [['## Before you upgrade', '', ...care].join('\n')] : []), ...releases.toReversed().map(section)].join(
    '\n\n',
  )
}

/** CHANGELOG.md, whole. */
export const changelog = (releases: readonly ReleaseRecord[]): string =>
  `${['# Changelog', 'Generated from `releases/` by `npm run gatehouse -- release generate`; edit the records.', ...releases.toReversed().map(section)].join('\n\n')}\n`

function section(release: ReleaseRecord): string {
  const { version, date, kind, chart, env } = release
  const needs = chart === null ? [] : [`Chart: \`app\` ${chart}`]
  const settings =
    env.added.length > 0 && env.added.length <= 12 ? [`New settings: ${env.added.map((name) => `\`${name}\``).join(', ')}`] : []
  return [
    `## ${version} (${date}${kind === 'security' ? ', security' : ''})`,
    '',
    ...[...warnings(release), ...release.notes, ...settings, ...needs].map((line) => `- ${line}`),
  ].join('\n')
}

const warnings = ({ breaking, stop, security }: ReleaseRecord): readonly string[] => [
  ...breaking.map(({ id, fix }) => `**Breaking** (${id}): ${fix}`),
  ...(stop === null ? [] : [`**Stop**${stop.kind === 'conditional' ? ` (with a ${stop.when})` : ''}: ${stop.reason}`]),
  ...security.map((advisory) => `**Security**: ${advisory}`),
]
