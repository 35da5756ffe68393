import { nearest } from '../../lib/text/nearest.ts'
import { findProvider, providers } from './catalog.ts'

/** Names that people use for rows of the catalogue with another id. Written without dashes, underscores and dots, in lower case. */
const otherNames: Readonly<Record<string, string>> = {
  amazon: 'bedrock',
  amazonbedrock: 'bedrock',
  aws: 'bedrock',
  awsbedrock: 'bedrock',
  azure: 'azure-openai',
  azurefoundry: 'azure-ai',
  chatgpt: 'openai',
  claude: 'anthropic',
  fireworks: 'fireworks-ai',
  gemini: 'google',
  geminiai: 'google',
  googleai: 'google',
  googleaistudio: 'google',
  googlegemini: 'google',
  googlevertex: 'vertex-ai',
  grok: 'x-ai',
  kimi: 'moonshot',
  mistral: 'mistral-ai',
  perplexity: 'perplexity-ai',
  together: 'together-ai',
  vertex: 'vertex-ai',
  xai: 'x-ai',
}

/** Returns the id of the catalogue that an unknown name probably means; null if none is near. */
export function meantProvider(name: string): string | null {
  const plain = name.slice(0, 60).toLowerCase()
  const known = otherNames[plain.replaceAll(/[^a-z0-9]/g, '')]
  const near = known ?? (plain.length > 3 ? nearest(plain, [...Object.keys(providers), ...Object.keys(otherNames)]) : null)
  const meant = near === null ? null : (otherNames[near] ?? near)
  return meant !== null && findProvider(meant) !== null ? meant : null
}

/** Returns the sentence that names the provider that an unknown name probably means, with a space before it; empty if none is near. */
export function meantSentence(name: string): string {
  const meant = meantProvider(name)
  return meant === null ? '' : ` Did you mean "${meant}"?`
}
