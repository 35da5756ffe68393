import type { Rates } from './entry.ts'

/** Fees by the call of tools that providers run, in pico-US-dollars, for all models alike. Free allotments are not taken off. */
const openai: Rates = {
  web_search: 10_000_000_000,
  file_search: 2_500_000_000,
  // The price of a gigabyte of the container: openai.com/api/pricing.
  code_session: 30_000_000_000,
}
const azure: Rates = { web_search: 14_000_000_000, file_search: 2_500_000_000, code_session: 33_000_000_000 }
const anthropic: Rates = {
  web_search: 10_000_000_000,
  // An hour of the container: platform.claude.com/docs. No answer counts it, but budgets expect it.
  code_execution: 50_000_000_000,
}
const google: Rates = {
  web_search: 35_000_000_000,
  maps: 25_000_000_000,
  enterprise_web_search: 45_000_000_000,
  // Its tokens alone: ai.google.dev/gemini-api/docs/code-execution.
  code_execution: 0,
  // A search in a store of the caller's.
  file_search: 2_500_000_000,
}

const fees: Readonly<Record<string, Rates>> = {
  openai,
  'azure-openai': azure,
  'azure-ai': azure,
  anthropic,
  bedrock: anthropic,
  google,
  'vertex-ai': google,
  'x-ai': {
    web_search: 5_000_000_000,
    x_search: 5_000_000_000,
    code_execution: 5_000_000_000,
    file_search: 2_500_000_000,
    attachment_search: 10_000_000_000,
  },
  // Each connector has a price: mistral.ai/pricing.
  'mistral-ai': { web_search: 30_000_000_000, web_search_high: 50_000_000_000, code_execution: 30_000_000_000, image: 100_000_000_000 },
}

/** Returns the fees of a provider for the tools that it runs, for models whose own prices do not name them; null: none is known. */
export const toolFeesOf = (provider: string): Rates | null => fees[provider] ?? null
