import { ApiError } from '../../lib/errors.ts'
import type { FocusOptions, LogExport } from './log-export.entity.ts'

/** The parts of a body that depend on the kind of the export. */
interface ExportContent {
  readonly kind?: LogExport['kind'] | undefined
  readonly requested_data?: readonly string[] | undefined
  readonly granularity?: FocusOptions['granularity'] | undefined
  readonly tag_keys?: readonly string[] | undefined
}

type Content = Pick<LogExport, 'kind' | 'fields' | 'options'>

/** Fields of logs that costs are made of: costs reveal as much as they do. */
const ofCosts = ['created_at', 'workspace_id', 'workspace_slug', 'api_key_id', 'ai_org', 'ai_model', 'virtual_key', 'total_units', 'cost']

/** Returns the contents of an export, from a body and the former draft. Throws AB01 for fields that its kind does not have. */
export function contentOf(asked: ExportContent, before: Content | null): Content {
  const kind = asked.kind ?? before?.kind ?? 'logs'
  const kept = before?.kind === kind ? before : null
  return kind === 'logs' ? logsOf(asked, kept) : costsOf(asked, kept)
}

function logsOf({ requested_data: asked, ...others }: ExportContent, kept: Content | null): Content {
  for (const param of ['granularity', 'tag_keys'] as const)
    if (others[param] !== undefined) throw new ApiError('AB01', 'Only exports of costs (`kind`: `focus`) have it.', { param })
  const fields = asked ?? kept?.fields
  if (fields === undefined) throw new ApiError('AB01', 'Name the fields that the export is to have.', { param: 'requested_data' })
  return { kind: 'logs', fields: [...fields], options: {} }
}

function costsOf({ requested_data: asked, granularity, tag_keys: tagKeys }: ExportContent, kept: Content | null): Content {
  if (asked !== undefined)
    throw new ApiError('AB01', 'Costs have the columns of their standard: leave `requested_data` away.', { param: 'requested_data' })
  const options = {
    granularity: granularity ?? kept?.options.granularity ?? ('day' as const),
    tag_keys: [...(tagKeys ?? kept?.options.tag_keys ?? [])],
  }
  return { kind: 'focus', fields: options.tag_keys.length === 0 ? ofCosts : [...ofCosts, 'metadata'], options }
}
