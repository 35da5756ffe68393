/** Facts of a model of Google's, as far as its name contains them. */
export interface ModelFacts {
  /** How the amount of its thinking is set: in tokens, or by a level. */
  readonly thinking: 'none' | 'budget' | 'level'
  /** The bounds of a budget. */
  readonly minBudget: number
  readonly maxBudget: number
  /** True if thinking can be switched off. */
  readonly canRest: boolean
  /** The levels that it supports, the lowest first. */
  readonly levels: readonly Level[]
  /** True if it takes JSON Schema as it is; else a part of OpenAPI's schemas. */
  readonly jsonSchema: boolean
  /** True if an answer can be held to JSON while there are functions. */
  readonly jsonBesideTools: boolean
  /** True if a call in the current turn must bear the signature of the model. */
  readonly wantsSignatures: boolean
  /** True if images can stand in the result of a function. */
  readonly mediaInResults: boolean
  /** True if it opens addresses on the web. */
  readonly opensUrls: boolean
}

export type Level = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'

/** The version of a model: 25 for 2.5. A name without one counts as the newest. */
function versionOf(model: string): number {
  const found = /gemini-(\d+)(?:\.(\d))?/.exec(model)
  if (found !== null) return Number(found[1]) * 10 + Number(found[2] ?? 0)
  return model.includes('gemma') ? 15 : model.includes('gemini-pro') && !model.includes('latest') ? 10 : Infinity
}

function levelsOf(model: string, version: number): readonly Level[] {
  if (model.includes('pro')) return version <= 30 ? ['LOW', 'HIGH'] : ['LOW', 'MEDIUM', 'HIGH']
  return version < 37 ? ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] : ['LOW', 'MEDIUM', 'HIGH']
}

function readFacts(model: string): ModelFacts {
  const version = versionOf(model)
  const isPro = model.includes('pro')
  return {
    thinking: version < 25 ? 'none' : version < 30 ? 'budget' : 'level',
    minBudget: isPro ? 128 : model.includes('lite') ? 512 : 1,
    maxBudget: isPro ? 32_768 : 24_576,
    canRest: !isPro && version < 30,
    levels: levelsOf(model, version),
    jsonSchema: version >= 25,
    jsonBesideTools: version >= 30,
    wantsSignatures: version >= 30,
    mediaInResults: version >= 30,
    opensUrls: version >= 25,
  }
}

const facts = new Map<string, ModelFacts>()
/** So many models are remembered; names come from callers. */
const mostModels = 1000

/** Returns the abilities of a Gemini model, by its name: thinking, schemas, signatures. */
export function modelFacts(model: string): ModelFacts {
  const found = facts.get(model)
  if (found !== undefined) return found
  const made = readFacts(model)
  if (facts.size >= mostModels) facts.clear()
  facts.set(model, made)
  return made
}
