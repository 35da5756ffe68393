/** The two ways to speak MCP: `modern` has all in each request, `legacy` begins with a handshake. */
export type Era = 'modern' | 'legacy'

/** The revisions of the protocol that are spoken on both sides, the newest first. */
export const modernRevisions: readonly [newest: string, ...string[]] = ['2026-07-28']
export const legacyRevisions: readonly [newest: string, ...string[]] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** The revision of a legacy client that names none, by its specification. */
export const unnamedRevision = '2025-03-26'

export const isModern = (revision: string): boolean => modernRevisions.includes(revision)
export const isLegacy = (revision: string): boolean => legacyRevisions.includes(revision)

/** Returns true for the date of a revision that is modern, whether it is spoken here or not. */
export const namesModern = (revision: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(revision) && revision > legacyRevisions[0]
