/** The command line asks for what cannot be; its message is for the person who wrote it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
