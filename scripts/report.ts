/** The results of checks, line by line, as they come. */
export class Report {
  readonly #begun = performance.now()
  readonly #subject: string
  #passed = 0
  #failed = 0
  #skipped = 0

  constructor(subject: string) {
    this.#subject = subject
  }

  /** Runs a check and reports its outcome; returns null when it failed. */
  async check<T>(what: string, run: () => Promise<T>): Promise<T | null> {
    const begun = performance.now()
    try {
      const value = await run()
      this.#passed++
      console.log(`ok - ${this.#subject}: ${what} (${seconds(begun)})`)
      return value
    } catch (error) {
      this.fail(what, error)
      return null
    }
  }

  fail(what: string, error: unknown): void {
    this.#failed++
    console.log(`not ok - ${this.#subject}: ${what}: ${error instanceof Error ? error.message : String(error)}`)
  }

  skip(what: string, why: string): void {
    this.#skipped++
    console.log(`SKIPPED - ${this.#subject}: ${what}: ${why}`)
  }

  /** A figure for the release's report. */
  figure(what: string, value: string): void {
    console.log(`# ${this.#subject}: ${what}: ${value}`)
  }

  end(): void {
    console.log(
      `# ${this.#subject}: ${this.#passed} checks passed, ${this.#failed} failed, ${this.#skipped} SKIPPED, in ${seconds(this.#begun)}`,
    )
    process.exitCode = this.#failed > 0 ? 1 : 0
  }
}

const seconds = (begun: number) => `${((performance.now() - begun) / 1000).toFixed(1)} s`
