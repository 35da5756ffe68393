import type { Announcement } from './published.ts'
import type { Lock } from './record.ts'
import type { ReleaseTable } from './table.ts'

/** The code's own description. */
export interface Code {
  /** The release that `package.json` states. */
  readonly version: string
  readonly features: readonly {
    readonly id: string
    readonly since: string
    readonly changes?: readonly string[]
    /** The missing part of a feature, which then counts as pending. */
    readonly incomplete?: string | undefined
  }[]
  readonly settings: readonly { readonly name: string; readonly since: string }[]
  /** The fields that are marked with the release that brought them: `body.tags` of `POST /integrations`. */
  readonly fields: readonly { readonly operation: string; readonly at: string; readonly since: string }[]
  /** The operations of the API description, such as `GET /logs`, that each level serves. */
  operations(level: string): readonly string[]
  readonly preflightChecks: readonly string[]
}

/** The input of `release check`: records, code and files, all of them given, so that the rules stay pure. */
export interface Project {
  readonly table: ReleaseTable
  readonly published: readonly Announcement[]
  readonly code: Code
  /** SHA-256 by migration id (`v01.03.00/001-tenancy`), and by version of the record's file. */
  readonly hashes: { readonly migrations: Readonly<Record<string, string>>; readonly records: Readonly<Record<string, string>> }
  readonly locks: readonly Lock[]
  /** Files that are generated from the records: as they are, and as they would be written. */
  readonly generated: readonly { readonly path: string; readonly found: string | null; readonly expected: string }[]
  /** The chart's text files by path, the images that it renders and the settings that it can pass on; no chart: none and null. */
  readonly chart: {
    readonly files: Readonly<Record<string, string>>
    readonly images: readonly string[] | null
    readonly settings: readonly string[] | null
  }
}

/** A fault that a rule found in the project; pending: recorded and not implemented yet. */
export interface Finding {
  readonly rule: `R${number}`
  /** The release or the file that it is about. */
  readonly where: string
  readonly message: string
  readonly pending?: boolean
}

/** One of R1 to R18. */
export type Rule = (project: Project) => readonly Finding[]
