const KiB = 1024

/** The most that a document has: a JSON column of a row, as text. A list reads many of them at once, and each write records them in the trail. */
export const usualDocumentBytes = 64 * KiB

/** The bounds of columns that are no usual documents; null: of a column that has a bound of another kind, which stands beside it. */
const others: Readonly<Record<string, number | null>> = {
  // A prompt has more contents: the schemas of tools, examples of answers.
  'prompt_versions.parameters': 128 * KiB,
  'prompt_versions.functions': 128 * KiB,
  'prompt_versions.tools': 128 * KiB,
  // The five columns of a version once more, in the order of the request.
  'prompt_versions.ordered': null,
  // Lists of hosts, groups and workspaces, of which an organisation or a person has one.
  'organisations.settings': 256 * KiB,
  'organisations.defaults': 256 * KiB,
  'identity_providers.settings': 256 * KiB,
  'invites.workspaces': 256 * KiB,
  // The bound of the body of a provisioning client.
  'scim_users.attributes': null,
  // Written by the job of the export.
  'log_exports.progress': null,
  // The trail bounds its copies of a write.
  ...Object.fromEntries(
    ['query', 'request_headers', 'request_body', 'before', 'after', 'related', 'error', 'redaction'].map((name) => [
      `audit_logs.${name}`,
      null,
    ]),
  ),
}

/** Returns the most bytes that a JSON column takes; null: its bound is of another kind. */
export const documentBytes = (table: string, column: string): number | null => {
  const own = others[`${table}.${column}`]
  return own === undefined ? usualDocumentBytes : own
}

/** The columns that have a row of their own. */
export const otherDocuments: readonly string[] = Object.keys(others)
