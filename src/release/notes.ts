import { isBuilt } from './items.ts'
import type { Code } from './project.ts'
import type { ReleaseRecord } from './record.ts'

/** The build's own description, from which notes take its contents. */
export type BuildContents = Pick<Code, 'features' | 'settings'>

/** A line of the notes, and whether the build has it. */
export function noteLines(release: ReleaseRecord, built: BuildContents): readonly string[] {
  return release.notes.map(({ text, of }) => {
    const missing = of.filter((name) => !isBuilt(release, name, built))
    if (missing.length === 0) return text
    return `${text} ${missing.length === of.length ? '*Not in this build yet.*' : '*Only partly in this build yet.*'}`
  })
}

/** Returns the changes for an operator who skips to the newest of these releases, as Markdown; breaking changes come first. */
export function notes(releases: readonly ReleaseRecord[], built: BuildContents): string {
  const care = releases.flatMap((release) => warnings(release).map((line) => `- ${release.version}: ${line}`))
  return [
    ...(care.length > 0 ? [['## Before you upgrade', '', ...care].join('\n')] : []),
    ...releases.toReversed().map((release) => section(release, built)),
  ].join('\n\n')
}

/** CHANGELOG.md, whole. */
export const changelog = (releases: readonly ReleaseRecord[], built: BuildContents): string =>
  `${['# Changelog', 'Generated from `releases/` by `npm run gatehouse -- release generate`; edit the records.', ...releases.toReversed().map((release) => section(release, built))].join('\n\n')}\n`

function section(release: ReleaseRecord, built: BuildContents): string {
  const { version, date, kind, chart, env } = release
  const needs = chart === null ? [] : [`Chart: \`app\` ${chart}`]
  const settings =
    env.added.length > 0 && env.added.length <= 12 ? [`New settings: ${env.added.map((name) => `\`${name}\``).join(', ')}`] : []
  return [
    `## ${version} (${date}${kind === 'security' ? ', security' : ''})`,
    '',
    ...[...warnings(release), ...noteLines(release, built), ...settings, ...needs].map((line) => `- ${line}`),
  ].join('\n')
}

const warnings = ({ breaking, stop, security }: ReleaseRecord): readonly string[] => [
  ...breaking.map(({ id, fix }) => `**Breaking** (${id}): ${fix}`),
  ...(stop === null ? [] : [`**Stop**${stop.kind === 'conditional' ? ` (with a ${stop.when})` : ''}: ${stop.reason}`]),
  ...security.map((advisory) => `**Security**: ${advisory}`),
]
