/** The differences of the structure of a database from that of a fresh installation. */
export function unlike(found: readonly string[], fresh: readonly string[]): readonly string[] {
  const [has, wants] = [new Set(found), new Set(fresh)]
  return [
    ...fresh.filter((line) => !has.has(line)).map((line) => `the schema lacks what a fresh installation has: ${line}`),
    ...found.filter((line) => !wants.has(line)).map((line) => `the schema has what a fresh installation lacks: ${line}`),
  ]
}
