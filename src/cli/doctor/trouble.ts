import type { Result } from '../preflight/run.ts'
import type { Advice } from '../troubleshooting/advice.ts'
import { findingAdvice, type FindingId } from './findings.ts'

/** Something that is wrong, in plain words. */
export interface Trouble {
  readonly id: string
  readonly severity: 'error' | 'warning'
  readonly what: string
  readonly fix: string
}

/** A finding of the doctor's own, with the observation. */
export const found = (id: FindingId, severity: Trouble['severity'], seen: string): Trouble =>
  explained(id, findingAdvice[id], { severity, seen })

/** Returns a finding: an advice with the facts. */
export const explained = (
  id: string,
  { means, fix }: Advice,
  { severity, seen }: { readonly severity: Trouble['severity']; readonly seen: string },
): Trouble => ({
  id,
  severity,
  what: `${plain(means)} Seen: ${seen}.`,
  fix: plain(fix),
})

/** The results of preflight that are not as they should be. */
export const fromChecks = (results: readonly Result[]): readonly Trouble[] =>
  results.flatMap(({ id, status, detail, fix = '' }) => {
    if (status !== 'fail' && status !== 'warn') return []
    return [
      {
        id,
        severity: status === 'fail' ? ('error' as const) : ('warning' as const),
        what: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`,
        fix,
      },
    ]
  })

/** Markdown as a terminal shows it. */
export const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '$1 (docs/operations/$2)')
