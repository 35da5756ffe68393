import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Dimension } from '../dialects/neutral/counts.ts'
import { containerGigabytes, isLocal, listOf } from '../dialects/openai-responses/sold-tools.ts'
import { toolNames, toolsOf } from '../dialects/asked-tools.ts'
import { sentFields, sentValues } from '../dialects/sent-fields.ts'
import { soldAs } from '../dialects/tool-names.ts'

/** The calls of a request that sets no number. */
const usualCalls = 5
/** The sources that xAI reads for a request that sets no number. */
const usualSources = 20

/** Returns the most calls of each tool that a request lets a provider make; null: none. */
export function soldCalls(json: Fields): Partial<Record<Dimension, number>> | null {
  let calls: Partial<Record<Dimension, number>> | null = null
  let gigabytes: number | null = null
  const most = mostCalls(json)
  const tools = toolsOf(json)
  const add = (sold: Dimension, count: number): void => {
    calls ??= {}
    const asked = sold === 'code_session' ? (gigabytes ??= containerGigabytes(tools)) : Math.min(count, most)
    calls[sold] = Math.max(calls[sold] ?? 0, asked)
  }
  for (const tool of tools) if (!isLocal(tool)) for (const name of toolNames(tool)) addNamed(name, tool, add)
  for (const { web_search_options: search, search_parameters: sources, plugins } of sentFields(json)) {
    if (isFields(search)) add('web_search', usualCalls)
    if (isFields(sources) && sources['mode'] !== 'off') add('web_search', wholeOf(sources['max_search_results']) ?? usualSources)
    if (listOf(plugins).some(isWebPlugin)) add('web_search', usualCalls)
  }
  return calls
}

/** Returns the most calls of tools that a request allows: the largest number that it names. */
export function mostCalls(json: Fields): number {
  const named = sentValues(json, 'max_tool_calls').map((value) => wholeOf(value) ?? Infinity)
  return named.length === 0 ? Infinity : Math.max(...named)
}

const isWebPlugin = (plugin: unknown): boolean => isFields(plugin) && plugin['id'] === 'web' && plugin['enabled'] !== false

/** The date at the end of the names of Claude's tools, which alone read a number of uses. */
const dated = /_20\d{6}$/

function addNamed(named: string, tool: Fields, add: (sold: Dimension, count: number) => void): void {
  const uses = wholeOf(tool['max_uses'])
  const count = uses === null || dated.test(named) ? (uses ?? usualCalls) : Math.max(uses, usualCalls)
  for (const sold of soldAs(named)) add(sold, count)
}

const wholeOf = (value: unknown): number | null =>
  typeof value === 'number' && value > 0 && Number.isFinite(value) ? Math.ceil(value) : null
