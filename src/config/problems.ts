/** A setting whose value cannot be used. `fault` never holds a secret's value. */
export interface Problem {
  readonly name: string
  readonly fault: string
  readonly example: string
}

/** Everything that is wrong with the environment, at once. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(formatProblems(problems))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** The problems as text for a terminal: one line each, with an example of a value that works. */
export function formatProblems(problems: readonly Problem[]): string {
  const title = problems.length === 1 ? '1 setting cannot be used:' : `${problems.length} settings cannot be used:`
  return [title, ...problems.map(({ name, fault, example }) => `  ${name} ${fault}. Example: ${name}=${example}`)].join('\n')
}
