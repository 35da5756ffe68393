import { z } from 'zod'

const RevisionShape = z.looseObject({ revision: z.coerce.number(), status: z.string(), chart: z.string().default('') })
const History = z.array(RevisionShape)

/** One revision of a release, as Helm prints it. */
export type Revision = z.infer<typeof RevisionShape>

/** Returns the revisions that `helm history -o json` wrote, oldest first; null: this is something else. */
export function parseHistory(text: string): readonly Revision[] | null {
  try {
    return History.parse(JSON.parse(text)).toSorted((one, other) => one.revision - other.revision)
  } catch {
    return null
  }
}
