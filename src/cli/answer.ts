/** Writes a command's answer on standard output: the value as JSON when a program asks, else the text. */
export const answer = (json: boolean | undefined, value: unknown, text: string): void =>
  console.log(json === true ? JSON.stringify(value, null, 2) : text)
