/** Facts about a model of OpenAI's by its name. */
export interface ModelFacts {
  /** It thinks, so that it takes an effort, and its cap by the newer name. */
  readonly reasons: boolean
  /** It takes temperature and the like only when it does not think. */
  readonly fixedSampling: boolean
  /** Its thinking can be switched off. */
  readonly knowsNone: boolean
}

const plain: ModelFacts = { reasons: false, fixedSampling: false, knowsNone: false }
const unknown: ModelFacts = { reasons: true, fixedSampling: false, knowsNone: true }

/** Returns the abilities of a model; a name without a known version may be any vendor's. */
export function modelFacts(model: string): ModelFacts {
  const name = model.slice(model.lastIndexOf('/') + 1)
  if (/^(?:gpt-3|gpt-4|chatgpt-|ft:gpt-[34])/.test(name)) return plain
  if (/^(?:o\d|codex)/.test(name)) return { reasons: true, fixedSampling: true, knowsNone: false }
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(name)
  if (version === null) return unknown
  return { reasons: true, fixedSampling: !/chat/.test(name), knowsNone: Number(version[1]) > 5 || Number(version[2] ?? 0) >= 1 }
}
