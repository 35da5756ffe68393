import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { ChangeFilter, ServerFacts } from '../upstream/upstream-request.ts'

const flag = (fields: unknown, name: string): boolean => isFields(fields) && fields[name] === true

/** Returns the part of a filter that a server can serve. */
export function servedChanges({ capabilities }: ServerFacts, wanted: ChangeFilter): ChangeFilter {
  return {
    toolsListChanged: wanted.toolsListChanged && flag(capabilities['tools'], 'listChanged'),
    promptsListChanged: wanted.promptsListChanged && flag(capabilities['prompts'], 'listChanged'),
    resourcesListChanged: wanted.resourcesListChanged && flag(capabilities['resources'], 'listChanged'),
    resourceSubscriptions: flag(capabilities['resources'], 'subscribe') ? wanted.resourceSubscriptions : [],
  }
}

/** Returns true for a filter that asks for any change. */
export const wantsAny = ({ resourceSubscriptions, ...flags }: ChangeFilter): boolean =>
  resourceSubscriptions.length > 0 || Object.values(flags).some(Boolean)

/** Returns true if a change is one of those that a filter asks for. */
export function wantsChange(filter: ChangeFilter, method: string, { uri }: Fields): boolean {
  if (method === 'notifications/tools/list_changed') return filter.toolsListChanged
  if (method === 'notifications/prompts/list_changed') return filter.promptsListChanged
  if (method === 'notifications/resources/list_changed') return filter.resourcesListChanged
  return method === 'notifications/resources/updated' && typeof uri === 'string' && filter.resourceSubscriptions.includes(uri)
}

/** The fields of a filter that are wanted. */
export const toldFilter = ({ resourceSubscriptions, ...flags }: ChangeFilter): Fields => ({
  ...Object.fromEntries(Object.entries(flags).filter(([, wanted]) => wanted)),
  ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }),
})
