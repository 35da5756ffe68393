import type { Ledger, Reservation } from '../gateway/ports.ts'

const granted: Reservation = { settle: () => {} }

/** The Ledger door of an installation without limits: rate limits and budgets come as a feature, and then lease from PostgreSQL. */
export const unlimitedLedger: Ledger = { reserve: () => granted }
