/** The most that a template may cost. One that keeps to the first four can be stored; the rest is counted while one is rendered. */
export const bounds = {
  /** Characters of one template or partial. */
  templateLength: 262_144,
  /** Tags of one template or partial. */
  tags: 1000,
  /** Sections within sections of one template or partial. */
  nesting: 50,
  /** Partials in partials, as they are written. */
  partialDepth: 20,
  /** Characters of a prompt with all the partials that it includes, each as often as it is included in another way. */
  totalLength: 524_288,
  /** Sections and partials within one another, while a template is rendered. */
  depth: 100,
  /** Parts that are rendered, empty ones included: a loop in a loop costs time also when its result is empty. */
  steps: 200_000,
  /** Names that are looked up: each part of a dotted one, in each section around it. */
  lookups: 2_000_000,
  /** Characters of all that a prompt renders to. */
  outputLength: 1_048_576,
} as const
