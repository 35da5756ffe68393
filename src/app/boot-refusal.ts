/** Why a process must not run here, as programs read it. */
export type RefusalCode =
  | 'release_too_old'
  | 'chart_too_old'
  | 'chart_missing'
  | 'image_differs'
  | 'wrong_key'
  | 'postgresql_too_old'
  | 'pooler_shares_sessions'
  | 'unknown_level'
  | 'database_missing'
  | 'weak_owner_password'

/** This process must not run on this database or in this deployment, however long one waits; it ends with exit code 78. */
export class BootRefusal extends Error {
  readonly code: RefusalCode
  /** The problem, without the advice. */
  readonly problem: string
  /** The advice. */
  readonly advice: string

  constructor(code: RefusalCode, message: string, advice: string) {
    super(`${message}: ${advice}`)
    this.name = 'BootRefusal'
    this.code = code
    this.problem = message
    this.advice = advice
  }
}
