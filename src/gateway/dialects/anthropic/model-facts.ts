/** Facts of a model of Anthropic's, as far as its name contains them. */
export interface ModelFacts {
  /** The most tokens of an answer. */
  readonly maxOutput: number
  /** It decides itself how long it thinks, by an effort; the others want a budget. */
  readonly adaptive: boolean
  readonly canThink: boolean
  /** It holds an answer, and the arguments of tools, to a schema. */
  readonly schemas: boolean
  /** Every temperature but 1 is refused. */
  readonly fixedSampling: boolean
  /** Temperature and top_p may come together. */
  readonly takesBoth: boolean
  /** True if it supports the highest effort but `max`. */
  readonly knowsXhigh: boolean
}

/** The version of a model: 45 for 4.5. A name without one counts as the newest. */
function versionOf(model: string): number {
  const newer = /claude-(?:[a-z]+)-(\d+)(?:[-.](\d)(?!\d))?/.exec(model)
  if (newer !== null) return Number(newer[1]) * 10 + Number(newer[2] ?? 0)
  const older = /claude-(?:instant|v?(\d+)(?:[-.](\d)(?!\d))?)/.exec(model)
  if (older === null) return Infinity
  return Number(older[1] ?? 1) * 10 + Number(older[2] ?? 0)
}

/** Returns the largest answer: the first row whose version is not below counts. */
const largest: readonly (readonly [upTo: number, small: number, opus: number])[] = [
  [30, 4096, 4096],
  [35, 8192, 4096],
  [39, 64_000, 64_000],
  [41, 64_000, 32_000],
  [45, 64_000, 64_000],
  [Infinity, 128_000, 128_000],
]

const facts = new Map<string, ModelFacts>()
/** So many models are remembered; names come from callers. */
const mostModels = 1000

/** Returns the abilities of a model. */
export function modelFacts(model: string): ModelFacts {
  const found = facts.get(model)
  if (found !== undefined) return found
  const version = versionOf(model)
  const [, small, opus] = largest.find(([upTo]) => version <= upTo) ?? [0, 64_000, 64_000]
  const made: ModelFacts = {
    maxOutput: model.includes('opus') ? opus : small,
    adaptive: version >= 46,
    canThink: version >= 37,
    schemas: version >= 45,
    fixedSampling: version >= 47,
    takesBoth: version < 41,
    knowsXhigh: version >= 47,
  }
  if (facts.size >= mostModels) facts.clear()
  facts.set(model, made)
  return made
}
