/** How one thing that a ready process needs is. */
export interface Check {
  readonly status: 'pass' | 'warn' | 'fail'
  readonly detail?: string
}

/** The answer of `/readyz`. */
export interface HealthReport {
  readonly ready: boolean
  readonly checks: Readonly<Record<'database' | 'migrations' | 'snapshot' | 'encryption_key' | 'journal' | 'draining', Check>> & {
    /** The certificate of the port, when it speaks HTTPS. */
    readonly certificate?: Check
    /** While it and that of the database differ. */
    readonly clock?: Check
    /** While they cannot be counted. */
    readonly limits?: Check
  }
}
