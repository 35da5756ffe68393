/** Thrown inside a check that cannot look; its message gives the reason. */
export class NotPossible extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NotPossible'
  }
}
