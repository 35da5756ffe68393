import type { ProviderScope } from '../../gateway/ports.ts'
import {
  type ReadPartials,
  openPrompt,
  type Prompt,
  type StoredPrompt,
  parseReference,
  versionNumber,
  type Reference,
} from '../../gateway/ports/prompts.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { anyOf, longestSlug, templateLimits, type Ask, type Views } from '../../app/snapshot/view.ts'
import type { LoadedView } from '../../app/snapshot/view-cache.ts'

interface PromptRow extends StoredPrompt {
  readonly labelId: string | null
}

/** JSON with its keys in the order in which they were sent; sorted in versions of earlier releases. */
const ordered = (column: string) => `coalesce(v.ordered -> '${column}', v.${column}::json)`

const prompt = (key: string, version: string) => `
  SELECT p.id, p.slug, p.organisation_id AS "organisationId", p.workspace_id AS "workspaceId", v.id AS "versionId", v.version, v.string,
         v.is_raw_template AS "isRaw", v.virtual_key AS "virtualKey", v.model,
         ${ordered('parameters')} AS parameters, ${ordered('functions')} AS functions, ${ordered('tools')} AS tools,
         ${ordered('tool_choice')} AS "toolChoice", ${ordered('template_metadata')} AS "templateMetadata", l.id AS "labelId"
    FROM prompts p
    JOIN prompt_versions v ON v.prompt_id = p.id
    JOIN workspaces w ON w.id = p.workspace_id
    JOIN organisations o ON o.id = p.organisation_id
    LEFT JOIN labels l ON l.id = v.label_id AND l.status <> 'archived'
   WHERE p.organisation_id = $1 AND ($2::uuid IS NULL OR p.workspace_id = $2) AND ${key} AND ${version}
     AND p.status <> 'archived' AND w.status = 'active' AND o.status = 'active'`

const keys = { id: 'p.id = $3::uuid', slug: 'p.slug = $3' } as const
const versions = {
  published: `v.version = p.published_version AND $4::text = ''`,
  latest: `v.version = p.latest_version AND $4::text = 'latest'`,
  number: 'v.version = $4::int',
  label: 'l.name = $4',
} as const

/** A slug and the name of a label. */
const longestReference = 2 * longestSlug + 1

/** A prompt with its partials. One that misses a partial may have it after any change of a partial. */
export const promptView: Views['prompt'] = {
  limits: templateLimits,
  tables: ['prompts', 'labels'],
  anyOf: ['prompt_partials'],
  key: ({ organisationId, workspaceId }, reference) =>
    reference.length > longestReference ? null : `${workspaceId ?? organisationId}/${reference}`,
  find: (scope, reference) => ({ read: (ask) => readPrompt(ask, scope, reference) }),
}

/** Reads the version of a prompt that a reference names, with all that it includes; null when this scope sees none. */
export async function readPrompt(ask: Ask, scope: ProviderScope, text: string): Promise<LoadedView<Prompt> | null> {
  const reference = parseReference(text)
  if (reference === null) return null
  const [key, version] = [isUuid(reference.id) ? ('id' as const) : ('slug' as const), kindOf(reference)]
  const [row] = await ask<PromptRow>({
    name: `prompt-by-${key}-${version}`,
    text: prompt(keys[key], versions[version]),
    values: [scope.organisationId, scope.workspaceId, reference.id, reference.suffix],
  })
  if (row === undefined) return null
  const { labelId, ...stored } = row
  const included: PartialTotals = { ids: [], length: 0 }
  const view = await openPrompt(stored, partialReader(ask, stored, included))
  return {
    view,
    until: Infinity,
    weight: JSON.stringify(stored).length + included.length,
    dependsOn: [
      view.id,
      view.workspaceId,
      view.organisationId,
      ...included.ids,
      ...(labelId === null ? [] : [labelId]),
      ...(view.linked.missing.length === 0 ? [] : [anyOf('prompt_partials')]),
    ],
  }
}

function kindOf({ suffix }: Reference): keyof typeof versions {
  if (suffix === '') return 'published'
  if (suffix === 'latest') return 'latest'
  return versionNumber(suffix) === null ? 'label' : 'number'
}

const partials = `
  SELECT wanted.written, p.id, v.string
    FROM jsonb_to_recordset($3::jsonb) AS wanted (written text, id text, suffix text)
    JOIN prompt_partials p ON p.workspace_id = $2 AND (p.slug = wanted.id OR p.id::text = wanted.id)
    JOIN prompt_partial_versions v ON v.prompt_partial_id = p.id
     AND v.version = CASE wanted.suffix WHEN '' THEN p.published_version WHEN 'latest' THEN p.latest_version ELSE wanted.suffix::int END
   WHERE p.organisation_id = $1 AND p.status <> 'archived'`

/** The partials that were found, and how much text they are. */
interface PartialTotals {
  readonly ids: string[]
  length: number
}

/** Partials have versions and no labels. */
function partialReader(ask: Ask, { organisationId, workspaceId }: StoredPrompt, included: PartialTotals): ReadPartials {
  return async (names) => {
    const wanted = names.flatMap((written) => {
      const reference = parseReference(written)
      const known =
        reference !== null && (reference.suffix === '' || reference.suffix === 'latest' || versionNumber(reference.suffix) !== null)
      return known ? [{ written, id: isUuid(reference.id) ? reference.id.toLowerCase() : reference.id, suffix: reference.suffix }] : []
    })
    const rows = await ask<{ written: string; id: string; string: string }>({
      name: 'partials-by-reference',
      text: partials,
      values: [organisationId, workspaceId, JSON.stringify(wanted)],
    })
    for (const { id, string } of rows) {
      included.ids.push(id)
      included.length += string.length
    }
    return new Map([...names.map((name) => [name, null] as const), ...rows.map(({ written, string }) => [written, string] as const)])
  }
}
