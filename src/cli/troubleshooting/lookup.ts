import { findingAdvice } from '../doctor/findings.ts'
import { ssoAdvice } from '../doctor/sso-findings.ts'
import { preflightChecks } from '../preflight/checks.ts'
import type { Advice } from './advice.ts'
import { faultAdvice } from './distribution.ts'
import { errorAdvice } from './error-codes.ts'
import { readinessAdvice, startAdvice, sealedAdvice } from './starts.ts'

/** The meaning of a word, and the place where it occurs. */
export interface LocatedAdvice extends Advice {
  readonly where: string
}

const tables: readonly (readonly [where: string, table: Readonly<Record<string, Advice>>])[] = [
  ['an error code of an answer', errorAdvice],
  ['a reason why a start fails', startAdvice],
  ['a check of /readyz', readinessAdvice],
  ['a reason to be sealed', sealedAdvice],
  ['a finding of "gatehouse doctor"', findingAdvice],
  ['a finding of "gatehouse doctor sso"', ssoAdvice],
  ['a refusal of "gatehouse release" or "gatehouse bundle"', faultAdvice],
  [
    'a check of "gatehouse preflight"',
    Object.fromEntries(preflightChecks.map(({ id, about, remedy }) => [id, { means: about, fix: remedy }])),
  ],
]

/** Every meaning of a word; empty for an unknown word. */
export const explainWord = (word: string): readonly LocatedAdvice[] =>
  tables.flatMap(([where, table]) => {
    const advice = Object.hasOwn(table, word) ? table[word] : undefined
    return advice === undefined ? [] : [{ where, ...advice }]
  })

/** Every word that can be explained. */
export const words = (): readonly string[] => [...new Set(tables.flatMap(([, table]) => Object.keys(table)))].toSorted()
