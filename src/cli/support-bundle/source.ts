import type { ProcessQuestions } from '../ask-process.ts'
import type { Stage } from '../preflight/stage.ts'

/** The input of the sources of a bundle. */
export interface Scene {
  readonly stage: Stage
  /** The running process; null: its address is unknown. */
  readonly process: ProcessQuestions | null
  /** Files with logs; `-` is standard input. */
  readonly logFiles: readonly string[]
  /** How much of the end of each. */
  readonly logBytes: number
}

/** A file of the bundle before anything was taken out: a document, or a text. */
export type CollectedFile = { readonly path: string } & ({ readonly document: unknown } | { readonly text: string })

/** One part of a bundle. Its error becomes the reason why the part is missing. */
export interface Source {
  /** The name of the source, for the progress and for the list of missing parts. */
  readonly name: string
  collect(scene: Scene): Promise<readonly CollectedFile[]>
}
